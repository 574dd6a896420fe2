/** Files of accounts. Their contents are on disk, one for all files that are equal. Frozen once released. */
export const files = `
CREATE TABLE file_blobs (
  name TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  size_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE files (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  purpose TEXT NOT NULL,
  filename TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  blob TEXT NOT NULL REFERENCES file_blobs (name),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX files_by_account ON files (account_id, id, size_bytes);
CREATE INDEX files_by_blob ON files (blob);
CREATE INDEX files_by_expiry ON files (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

CREATE TABLE file_holds (
  job_id TEXT NOT NULL,
  file_id TEXT NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  made_at_ms INTEGER NOT NULL,
  PRIMARY KEY (file_id, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_holds_by_time ON file_holds (made_at_ms);
`;
