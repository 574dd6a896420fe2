"""The async client. `setup.py` generates `_sync` from these files."""
