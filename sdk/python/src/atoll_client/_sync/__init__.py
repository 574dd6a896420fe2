# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
"""The client without its sync twin: `npm run generate` writes `_sync` from the files here."""
