/** Files that come in parts. The parts are on disk. Frozen once released. */
export const uploads = `
CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  purpose TEXT NOT NULL,
  filename TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  file_life_ms INTEGER,
  state TEXT NOT NULL,
  file_id TEXT,
  parts_hash TEXT,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX uploads_by_account ON uploads (account_id, state, expires_at_ms);
CREATE INDEX uploads_by_expiry ON uploads (expires_at_ms);

CREATE TABLE upload_parts (
  id TEXT PRIMARY KEY,
  upload_id TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  UNIQUE (upload_id, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX upload_parts_by_account ON upload_parts (account_id, size_bytes);
`;
