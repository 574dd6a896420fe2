"""The client without its sync twin: `setup.py` writes `_sync` from the files here."""
