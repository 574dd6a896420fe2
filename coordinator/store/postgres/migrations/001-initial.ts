/**
 * Tables as in `sqlite/migrations`, with these differences. Texts that clients write (names, messages, tokens) are kept as JSON strings,
 * because PostgreSQL's text has no NUL. The network's part of each movement is appended to `network_moves` and folded from time to time:
 * one row that every job changes would be a lock that all wait for. Keys are compared by bytes. Frozen once released.
 */
export const initial = `
CREATE TABLE accounts (
  id text COLLATE "C" PRIMARY KEY,
  email text NOT NULL,
  email_key text COLLATE "C" NOT NULL UNIQUE,
  password_hash text NOT NULL,
  created_at_ms bigint NOT NULL,
  deleted_at_ms bigint,
  requests_per_minute bigint CHECK (requests_per_minute >= 1),
  concurrent_jobs bigint CHECK (concurrent_jobs >= 0),
  concurrent_streams bigint CHECK (concurrent_streams >= 0),
  share bigint CHECK (share >= 1)
);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  prefix text NOT NULL,
  scopes text NOT NULL,
  secret_hash text COLLATE "C" NOT NULL UNIQUE,
  created_at_ms bigint NOT NULL,
  last_used_at_ms bigint,
  revoked_at_ms bigint
);
CREATE INDEX api_keys_by_account ON api_keys (account_id, id);

CREATE TABLE sessions (
  token_hash text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms);
CREATE INDEX sessions_by_account ON sessions (account_id, created_at_ms);

CREATE TABLE password_resets (
  token_hash text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  expires_at_ms bigint NOT NULL
);
CREATE INDEX password_resets_by_account ON password_resets (account_id);

CREATE TABLE sign_ups (
  token_hash text COLLATE "C" PRIMARY KEY,
  email text NOT NULL,
  email_key text COLLATE "C" NOT NULL UNIQUE,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX sign_ups_by_expiry ON sign_ups (expires_at_ms);

CREATE TABLE island_tokens (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  token_hash text COLLATE "C" NOT NULL UNIQUE,
  created_at_ms bigint NOT NULL,
  revoked_at_ms bigint
);
CREATE INDEX island_tokens_by_account ON island_tokens (account_id, id);

CREATE TABLE islands (
  host_id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  agent_version text NOT NULL,
  hardware text NOT NULL,
  runtimes text NOT NULL,
  last_seen_at_ms bigint NOT NULL
);
CREATE INDEX islands_by_account ON islands (account_id, last_seen_at_ms);
CREATE INDEX islands_by_age ON islands (last_seen_at_ms);

CREATE TABLE cargo_numbers (
  number bigint PRIMARY KEY,
  slug text COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE cargos (
  slug text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" REFERENCES accounts (id),
  file text NOT NULL,
  enabled boolean NOT NULL,
  approved boolean NOT NULL,
  revision bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  deleted_at_ms bigint
);
CREATE INDEX cargos_by_owner ON cargos (owner_id, slug) WHERE deleted_at_ms IS NULL;
CREATE INDEX cargos_by_holder ON cargos (owner_id);
CREATE TABLE cargo_approvals (
  slug text COLLATE "C" PRIMARY KEY,
  file text NOT NULL,
  revision text NOT NULL,
  approved_by text NOT NULL,
  approved_at_ms bigint NOT NULL
);
CREATE TABLE disabled_cargos (
  slug text COLLATE "C" PRIMARY KEY,
  at_ms bigint NOT NULL
);
CREATE TABLE catalog_revision (
  id int PRIMARY KEY CHECK (id = 1),
  revision bigint NOT NULL
);
INSERT INTO catalog_revision (id, revision) VALUES (1, 0);

CREATE TABLE coordinators (
  id text COLLATE "C" PRIMARY KEY,
  address text NOT NULL,
  version text NOT NULL,
  -- By the clock of the database.
  lease_until_ms bigint NOT NULL
);

-- owner_id: the coordinator that may write the job while it is unfinished.
CREATE TABLE jobs (
  id text COLLATE "C" PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  slug text COLLATE "C" NOT NULL,
  workload_id bigint NOT NULL,
  state text NOT NULL
    CHECK (state IN ('pending', 'queued', 'running', 'completed', 'failed', 'cancelled', 'timeout')),
  job_class text NOT NULL CHECK (job_class IN ('chat', 'batch')),
  priority int NOT NULL CHECK (priority BETWEEN 0 AND 100),
  price_micro bigint NOT NULL CHECK (price_micro >= 0),
  attempt int NOT NULL,
  refusals int NOT NULL DEFAULT 0 CHECK (refusals >= 0),
  island_id text COLLATE "C",
  -- Of a pending job: the Island that had the last attempt. It may bring it back.
  lost_island_id text COLLATE "C",
  client_bound boolean NOT NULL,
  created_at_ms bigint NOT NULL,
  wait_deadline_ms bigint NOT NULL,
  started_at_ms bigint,
  completed_at_ms bigint,
  charged_micro bigint NOT NULL DEFAULT 0 CHECK (charged_micro BETWEEN 0 AND price_micro),
  prompt_tokens bigint,
  completion_tokens bigint,
  finish_reason text,
  timings text,
  error text,
  batch_id text COLLATE "C",
  webhook_id text COLLATE "C",
  conversation_id text COLLATE "C",
  input_removed_at_ms bigint,
  output_removed_at_ms bigint
);
CREATE INDEX jobs_live ON jobs (account_id, id) WHERE completed_at_ms IS NULL;
CREATE INDEX jobs_by_owner ON jobs (owner_id, id) WHERE completed_at_ms IS NULL;
CREATE INDEX jobs_ended_by_state ON jobs (account_id, state, id) WHERE completed_at_ms IS NOT NULL;
CREATE INDEX jobs_ended_by_cargo ON jobs (account_id, slug, state, id) WHERE completed_at_ms IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (completed_at_ms, state, slug) WHERE completed_at_ms IS NOT NULL;
CREATE INDEX jobs_by_batch ON jobs (batch_id, id) WHERE batch_id IS NOT NULL;
CREATE INDEX jobs_by_conversation ON jobs (conversation_id, id) WHERE conversation_id IS NOT NULL;

CREATE TABLE job_inputs (
  job_id text COLLATE "C" PRIMARY KEY,
  input text NOT NULL
);
CREATE TABLE job_outputs (
  job_id text COLLATE "C" PRIMARY KEY,
  output text NOT NULL,
  large_chars bigint
);
-- text: the inner of a JSON string.
CREATE TABLE feed_chunks (
  ord bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id text COLLATE "C" NOT NULL,
  attempt int NOT NULL,
  seq bigint,
  items text NOT NULL,
  text text NOT NULL,
  UNIQUE (job_id, attempt, seq)
);
CREATE INDEX feed_chunks_by_job ON feed_chunks (job_id, ord);
CREATE TABLE job_feeds (
  job_id text COLLATE "C" PRIMARY KEY,
  layout text NOT NULL,
  text text
);
CREATE TABLE large_pieces (
  job_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  piece int NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (job_id, name, piece)
);
CREATE TABLE idempotency_keys (
  account_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  body_hash text NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  batch_id text COLLATE "C",
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at_ms);

CREATE TABLE batches (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  slug text COLLATE "C" NOT NULL,
  workload_id bigint NOT NULL,
  priority int NOT NULL CHECK (priority BETWEEN 0 AND 100),
  fail_mode text NOT NULL CHECK (fail_mode IN ('best_effort', 'fail_fast')),
  unfinished int NOT NULL CHECK (unfinished >= 0),
  created_at_ms bigint NOT NULL,
  cancelled_at_ms bigint,
  completed_at_ms bigint,
  webhook_id text COLLATE "C"
);
CREATE INDEX batches_unfinished ON batches (id) WHERE completed_at_ms IS NULL;

CREATE TABLE webhooks (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  subject_kind text NOT NULL CHECK (subject_kind IN ('job', 'batch')),
  subject_id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  secret text NOT NULL,
  is_secret_generated boolean NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'pending', 'delivered', 'failed')),
  ended_at_ms bigint,
  due_at_ms bigint,
  tries text NOT NULL DEFAULT '[]'
);
CREATE INDEX webhooks_pending ON webhooks (due_at_ms) WHERE state = 'pending';
CREATE INDEX webhooks_ended ON webhooks (ended_at_ms) WHERE state IN ('delivered', 'failed');
CREATE INDEX webhooks_by_account ON webhooks (account_id);

CREATE TABLE conversations (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  title text,
  slug text NOT NULL,
  system_prompt text,
  metadata text NOT NULL,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
);
CREATE INDEX conversations_by_account ON conversations (account_id, id);
CREATE TABLE messages (
  ord bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  conversation_id text COLLATE "C" NOT NULL REFERENCES conversations (id),
  role text NOT NULL CHECK (role IN ('user', 'assistant')),
  content text NOT NULL,
  state text NOT NULL CHECK (state IN ('in_progress', 'completed', 'failed', 'cancelled', 'timeout')),
  job_id text COLLATE "C",
  finish_reason text,
  error text,
  created_at_ms bigint NOT NULL,
  completed_at_ms bigint
);
CREATE INDEX messages_by_conversation ON messages (conversation_id, ord);
CREATE UNIQUE INDEX messages_in_progress ON messages (conversation_id) WHERE state = 'in_progress';
CREATE INDEX messages_by_job ON messages (job_id) WHERE job_id IS NOT NULL;

CREATE TABLE removals (
  kind text NOT NULL CHECK (kind IN ('job', 'output', 'conversation', 'account')),
  id text COLLATE "C" NOT NULL,
  at_ms bigint NOT NULL,
  PRIMARY KEY (kind, id)
);

CREATE TABLE balances (
  party text COLLATE "C" PRIMARY KEY,
  micro bigint NOT NULL,
  CHECK (party = 'network' OR micro >= 0)
);
INSERT INTO balances (party, micro) VALUES ('network', 0);
CREATE TABLE network_moves (micro bigint NOT NULL);
-- txn is the id of the transaction's first entry.
CREATE TABLE entries (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  txn bigint NOT NULL,
  party text COLLATE "C" NOT NULL,
  micro bigint NOT NULL CHECK (micro <> 0),
  kind text NOT NULL CHECK (kind IN ('grant', 'hold', 'charge', 'release', 'earning', 'fee')),
  job_id text COLLATE "C",
  at_ms bigint NOT NULL
);
CREATE INDEX entries_by_account ON entries (party, id) INCLUDE (micro, kind) WHERE kind = 'charge' OR party LIKE 'client:%';
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only';
END $$;
CREATE TRIGGER entries_are_append_only BEFORE UPDATE OR DELETE ON entries
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Grows with every change after which a key, a session or a limit that was read before means something else.
CREATE TABLE credentials_revision (revision bigint NOT NULL);
INSERT INTO credentials_revision VALUES (0);
CREATE FUNCTION raise_credentials_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE credentials_revision SET revision = revision + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER api_key_changed AFTER UPDATE OF id, account_id, scopes, secret_hash, revoked_at_ms OR DELETE ON api_keys
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();
CREATE TRIGGER session_changed AFTER UPDATE OR DELETE ON sessions
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();
CREATE TRIGGER account_limits_changed
  AFTER UPDATE OF id, requests_per_minute, concurrent_jobs, concurrent_streams, share ON accounts
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();

-- sealed: with the cluster key, which no database has.
CREATE TABLE secrets (
  name text COLLATE "C" PRIMARY KEY,
  sealed text NOT NULL
);

CREATE TABLE checks (
  id int PRIMARY KEY CHECK (id = 1),
  count bigint NOT NULL
);
INSERT INTO checks (id, count) VALUES (1, 0);
`;
