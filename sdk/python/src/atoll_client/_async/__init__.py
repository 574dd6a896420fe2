"""The client without its sync twin: `npm run sdk:types` writes `_sync` from the files here."""
