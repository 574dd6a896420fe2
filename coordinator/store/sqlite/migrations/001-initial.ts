/**
 * Frozen once released: a change is a new migration. Times in ms since the epoch, money in
 * micro-credits. Inputs and outputs are in separate tables, so that a move of a job rewrites a short row.
 */
export const initial = `
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  email_key TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  scopes TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL,
  last_used_at_ms INTEGER,
  revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_by_account ON api_keys (account_id, id);

CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms);

CREATE TABLE island_tokens (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE islands (
  host_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  agent_version TEXT NOT NULL,
  hardware TEXT NOT NULL,
  runtimes TEXT NOT NULL,
  last_seen_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cargo_numbers (
  number INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  slug TEXT NOT NULL,
  workload_id INTEGER NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('pending', 'queued', 'running', 'completed', 'failed', 'cancelled', 'timeout')),
  priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 100),
  price_micro INTEGER NOT NULL CHECK (price_micro >= 0),
  attempt INTEGER NOT NULL DEFAULT 0,
  island_id TEXT,
  created_at_ms INTEGER NOT NULL,
  wait_deadline_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  completed_at_ms INTEGER,
  charged_micro INTEGER NOT NULL DEFAULT 0 CHECK (charged_micro BETWEEN 0 AND price_micro),
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  finish_reason TEXT,
  timings TEXT,
  error TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_by_account ON jobs (account_id, id);
CREATE INDEX jobs_unfinished ON jobs (id) WHERE completed_at_ms IS NULL;
CREATE INDEX jobs_completions ON jobs (completed_at_ms, slug) WHERE state = 'completed';

CREATE TABLE job_inputs (
  job_id TEXT PRIMARY KEY REFERENCES jobs (id),
  input TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE job_outputs (
  job_id TEXT PRIMARY KEY REFERENCES jobs (id),
  output TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  job_id TEXT NOT NULL REFERENCES jobs (id),
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at_ms);

-- ord gives the order of a job's chunks; seq is null for those of the coordinator, which may repeat.
CREATE TABLE feed_chunks (
  ord INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL REFERENCES jobs (id),
  attempt INTEGER NOT NULL,
  seq INTEGER,
  items TEXT NOT NULL,
  UNIQUE (job_id, attempt, seq)
) STRICT;

CREATE TABLE balances (
  party TEXT PRIMARY KEY,
  micro INTEGER NOT NULL,
  CHECK (party = 'network' OR micro >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO balances (party, micro) VALUES ('network', 0);

-- txn is the id of the transaction's first entry.
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  txn INTEGER NOT NULL,
  party TEXT NOT NULL,
  micro INTEGER NOT NULL CHECK (micro <> 0),
  kind TEXT NOT NULL CHECK (kind IN ('grant', 'hold', 'charge', 'release', 'earning', 'fee')),
  job_id TEXT,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE TRIGGER entries_are_not_updated BEFORE UPDATE ON entries
BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries
BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TABLE checks (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  count INTEGER NOT NULL
) STRICT;
INSERT INTO checks (id, count) VALUES (1, 0);
`;
