"""The client without its sync twin: `npm run generate` writes `_sync` from the files here."""
