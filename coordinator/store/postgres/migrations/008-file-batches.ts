/** Batches over files in OpenAI's shape. Frozen once released. */
export const fileBatches = `
CREATE TABLE file_batches (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  request text NOT NULL,
  progress text NOT NULL,
  cancelling_at_ms bigint,
  ended_at_ms bigint,
  lease_owner text COLLATE "C",
  lease_until_ms bigint NOT NULL DEFAULT 0
);
CREATE INDEX file_batches_by_account ON file_batches (account_id, id);
CREATE INDEX file_batches_open ON file_batches (id) WHERE ended_at_ms IS NULL;
`;
