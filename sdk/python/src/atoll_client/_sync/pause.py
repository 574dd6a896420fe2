# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from time import sleep

__all__ = ["sleep"]
