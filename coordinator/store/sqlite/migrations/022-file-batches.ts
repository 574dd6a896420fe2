/** Batches over files in OpenAI's shape. Frozen once released. */
export const fileBatches = `
CREATE TABLE file_batches (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  request TEXT NOT NULL,
  progress TEXT NOT NULL,
  cancelling_at_ms INTEGER,
  ended_at_ms INTEGER,
  lease_owner TEXT,
  lease_until_ms INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX file_batches_by_account ON file_batches (account_id, id);
CREATE INDEX file_batches_open ON file_batches (id) WHERE ended_at_ms IS NULL;
`;
