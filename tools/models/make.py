"""Builds all or the named model folders under test/fixtures; `shipped.<name>` builds one under catalog/models. See README.md."""
import importlib
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import folder

NAMES = sorted(path.stem for path in (HERE / "makers").glob("*.py"))
SHIPPED = sorted(f"shipped.{path.stem}" for path in (HERE / "shipped").glob("*.py") if "def make()" in path.read_text())

for name in sys.argv[1:] or NAMES:
    if name not in [*NAMES, *SHIPPED]:
        sys.exit(f"No model {name}; there are {', '.join([*NAMES, *SHIPPED])}")
    started = time.monotonic()
    print(name, flush=True)
    said = importlib.import_module(name if name in SHIPPED else f"makers.{name}").make()
    print(f"  {said} ({time.monotonic() - started:.0f} s)", flush=True)
    if name in SHIPPED:
        folder.list_files(folder.SHIPPED / f"tiny-{name.removeprefix('shipped.')}")
