"""Makes the model folders under test/fixtures/onnx: all of them, or those named. See README.md."""
import importlib
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

NAMES = sorted(path.stem for path in (HERE / "makers").glob("*.py"))

for name in sys.argv[1:] or NAMES:
    if name not in NAMES:
        sys.exit(f"No model {name}; there are {', '.join(NAMES)}")
    started = time.monotonic()
    print(name, flush=True)
    said = importlib.import_module(f"makers.{name}").make()
    print(f"  {said} ({time.monotonic() - started:.0f} s)", flush=True)
