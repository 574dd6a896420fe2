# Generated from the file of the same name in _async by `npm run sdk:types`. Not for editing.
"""The client without its sync twin: `npm run sdk:types` writes `_sync` from the files here."""
