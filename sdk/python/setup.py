"""Generates `_sync` from `_async`, then builds the package that pyproject.toml describes.

The tests of the repository only import this file, which needs no installed packages.
"""

import os
import re
from pathlib import Path

PACKAGE = Path(__file__).parent / "src" / "atoll_client"
HEAD = "# Generated from the file of the same name in _async by setup.py. Not for editing.\n"

# Differences between the two clients, applied in this order: a later rule sees the result of an earlier one.
RULES = [
    (r"\bAsyncGenerator\[(.+), None\]", r"Generator[\1, None, None]"),
    (r"\bAsyncGenerator\b", "Generator"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\basync (?=def|for|with)", ""),
    (r"\bawait ", ""),
    (r"\bfrom anyio import sleep\b", "from time import sleep"),
    (r"\baclosing\b", "closing"),
    (r"\b(__)?a(?=(?:iter|enter|exit)__)", "__"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\baread\b", "read"),
    (r"\baclose\b", "close"),
]


def write_sync() -> None:
    """Writes the sync version of each file of the async client, and removes outdated files."""
    target = PACKAGE / "_sync"
    target.mkdir(exist_ok=True)
    sources = {path.name: path.read_text(encoding="utf-8") for path in (PACKAGE / "_async").glob("*.py")}
    for stale in target.glob("*.py"):
        if stale.name not in sources:
            stale.unlink()
    for name, text in sources.items():
        for pattern, replacement in RULES:
            text = re.sub(pattern, replacement, text)
        path = target / name
        # Tests that run at the same time must only read complete files.
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(HEAD + text, encoding="utf-8")
        part.replace(path)


write_sync()

if __name__ == "__main__":
    from setuptools import setup

    setup()
