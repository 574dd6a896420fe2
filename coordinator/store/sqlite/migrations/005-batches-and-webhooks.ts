/** Frozen once released: a change is a new migration. */
export const batchesAndWebhooks = `
CREATE TABLE batches (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  slug TEXT NOT NULL,
  workload_id INTEGER NOT NULL,
  priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 100),
  fail_mode TEXT NOT NULL CHECK (fail_mode IN ('best_effort', 'fail_fast')),
  -- Counted down as its jobs end.
  unfinished INTEGER NOT NULL CHECK (unfinished >= 0),
  created_at_ms INTEGER NOT NULL,
  cancelled_at_ms INTEGER,
  completed_at_ms INTEGER,
  webhook_id TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX batches_unfinished ON batches (id) WHERE completed_at_ms IS NULL;

ALTER TABLE jobs ADD COLUMN batch_id TEXT REFERENCES batches (id);
ALTER TABLE jobs ADD COLUMN webhook_id TEXT;
CREATE INDEX jobs_by_batch ON jobs (batch_id, id) WHERE batch_id IS NOT NULL;

-- Set for the key of a batch; job_id is then its first job.
ALTER TABLE idempotency_keys ADD COLUMN batch_id TEXT REFERENCES batches (id);

-- The outbox. tries is a JSON array; it stays short because tries end after a day.
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  subject_kind TEXT NOT NULL CHECK (subject_kind IN ('job', 'batch')),
  subject_id TEXT NOT NULL,
  url TEXT NOT NULL,
  secret TEXT NOT NULL,
  is_secret_generated INTEGER NOT NULL CHECK (is_secret_generated IN (0, 1)),
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'pending', 'delivered', 'failed')),
  ended_at_ms INTEGER,
  due_at_ms INTEGER,
  tries TEXT NOT NULL DEFAULT '[]'
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_pending ON webhooks (due_at_ms) WHERE state = 'pending';
`;
