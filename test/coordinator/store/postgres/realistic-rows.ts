import { MADE_AT_MS } from "../contract/store-builders.ts";

const ACCOUNTS = 2_000;
/** Number of accounts with any activity. */
const ACTIVE = 100;
const JOBS = 10_000;
const DAY_MS = 86_400_000;

const accountNumber = (n: string) => `'user_' || lpad((${n})::text, 6, '0')`;
const accountOf = (n: string) => accountNumber(`${n} % ${ACTIVE}`);
const idOf = (kind: string, n: string) => `'${kind}_' || lpad((${n})::text, 8, '0')`;
/**
 * The first tenth of the jobs is in batches of ten, and the next tenth is in conversations. One in fifty jobs is
 * unfinished.
 */
const [IN_BATCH, IN_CONVERSATION, IS_LIVE] = [
  `n < ${JOBS / 10}`,
  `n BETWEEN ${JOBS / 10} AND ${JOBS / 5}`,
  "n % 50 = 0",
];

/** A network after several weeks: 2,000 accounts, 10,000 jobs of which 200 are unfinished, and all related rows. */
export const REALISTIC_ROWS = `
INSERT INTO accounts (id, email, email_key, password_hash, created_at_ms)
  SELECT ${accountNumber("n")}, n || '@example.com', n || '@example.com', 'hash', ${MADE_AT_MS} FROM generate_series(0, ${ACCOUNTS - 1}) n;
INSERT INTO balances (party, micro)
  SELECT kind || ${accountNumber("n")}, 1000000 FROM generate_series(0, ${ACCOUNTS - 1}) n, unnest(ARRAY['client:', 'hold:', 'island:']) kind;
INSERT INTO api_keys (id, account_id, name, prefix, scopes, secret_hash, created_at_ms)
  SELECT ${idOf("key", "n")}, ${accountOf("n")}, '"k"', 'ak', 'jobs', 'secret' || n, ${MADE_AT_MS} FROM generate_series(0, 999) n;
INSERT INTO sessions (token_hash, account_id, created_at_ms, expires_at_ms)
  SELECT 'session' || n, ${accountOf("n")}, ${MADE_AT_MS}, ${MADE_AT_MS} + n * 1000 FROM generate_series(0, 1999) n;
INSERT INTO password_resets (token_hash, account_id, expires_at_ms)
  SELECT 'reset' || n, ${accountOf("n")}, ${MADE_AT_MS} FROM generate_series(0, 999) n;
INSERT INTO sign_ups (token_hash, email, email_key, expires_at_ms)
  SELECT 'signup' || n, n || '@b.example', n || '@b.example', ${MADE_AT_MS} + n FROM generate_series(0, 999) n;
INSERT INTO island_tokens (id, account_id, name, token_hash, created_at_ms)
  SELECT ${idOf("itk", "n")}, ${accountOf("n")}, '"t"', 'token' || n, ${MADE_AT_MS} FROM generate_series(0, 999) n;
INSERT INTO islands (host_id, account_id, agent_version, hardware, runtimes, last_seen_at_ms)
  SELECT 'host' || n, ${accountOf("n")}, '"1"', '{"cpu":"' || repeat('h', 500) || '"}', '[]', ${MADE_AT_MS} + n * 1000 FROM generate_series(0, 1999) n;
INSERT INTO pairing_codes (code_hash, account_id, name, expires_at_ms)
  SELECT 'code' || n, ${accountOf("n")}, '"t"', ${MADE_AT_MS} + n * 1000 FROM generate_series(0, 999) n;
INSERT INTO island_days (account_id, host_id, day, online_ms, completed, failed, cancelled, timed_out, retried, tokens)
  SELECT ${accountOf("n")}, 'host' || n, 20000 + day, 1, 1, 1, 1, 1, 1, 1 FROM generate_series(0, 999) n, generate_series(0, 9) day;
INSERT INTO island_earnings (account_id, host_id, day, micro) SELECT account_id, host_id, day, 1 FROM island_days;
INSERT INTO batches (id, account_id, slug, workload_id, priority, fail_mode, unfinished, created_at_ms, completed_at_ms)
  SELECT ${idOf("batch", "n")}, ${accountOf("n")}, 'tiny-chat', 1, 0, 'best_effort', 0, ${MADE_AT_MS},
    CASE WHEN n % 50 = 0 THEN NULL ELSE ${MADE_AT_MS} END
  FROM generate_series(0, 999) n;
INSERT INTO conversations (id, account_id, slug, metadata, created_at_ms, updated_at_ms)
  SELECT ${idOf("conv", "n")}, ${accountOf("n")}, 'tiny-chat', '{}', ${MADE_AT_MS}, ${MADE_AT_MS} FROM generate_series(0, 999) n;
INSERT INTO jobs (id, owner_id, account_id, slug, workload_id, state, job_class, priority, price_micro, attempt, client_bound,
    created_at_ms, wait_deadline_ms, completed_at_ms, batch_id, conversation_id)
  SELECT ${idOf("job", "n")}, 'c' || n % 3, ${accountOf("n")}, CASE n % 5 WHEN 0 THEN 'tiny-chat' ELSE 'other' END, 1,
    CASE WHEN ${IS_LIVE} THEN 'pending' ELSE (ARRAY['completed', 'completed', 'failed', 'cancelled', 'timeout'])[1 + n % 5] END,
    'batch', 0, 1000, 1, false, ${MADE_AT_MS} + n * 1000, ${MADE_AT_MS} + ${DAY_MS},
    CASE WHEN ${IS_LIVE} THEN NULL ELSE ${MADE_AT_MS} + n * 1000 END,
    CASE WHEN ${IN_BATCH} THEN ${idOf("batch", "n / 10")} END, CASE WHEN ${IN_CONVERSATION} THEN ${idOf("conv", "n % 1000")} END
  FROM generate_series(0, ${JOBS - 1}) n;
INSERT INTO job_inputs (job_id, input) SELECT id, '{"prompt":"Say: atoll"}' FROM jobs;
INSERT INTO job_feeds (job_id, layout, text) SELECT id, '[1,2,3]', 'abcdef' FROM jobs WHERE completed_at_ms IS NOT NULL;
INSERT INTO job_outputs (job_id, output) SELECT id, '{}' FROM jobs WHERE slug = 'other' AND state = 'completed';
INSERT INTO feed_chunks (job_id, attempt, seq, items, text)
  SELECT id, 1, seq, '[1]', 'a' FROM jobs, generate_series(1, 20) seq WHERE completed_at_ms IS NULL;
INSERT INTO large_pieces (job_id, name, piece, text)
  SELECT ${idOf("job", "n")}, 'output', piece, repeat('x', 100) FROM generate_series(0, 499) n, generate_series(0, 3) piece;
INSERT INTO idempotency_keys (account_id, key, body_hash, job_id, created_at_ms)
  SELECT ${accountOf("n")}, 'key' || n, 'hash', ${idOf("job", "n")}, ${MADE_AT_MS} + n * 1000 FROM generate_series(0, 2999) n;
INSERT INTO webhooks (id, account_id, subject_kind, subject_id, url, secret, is_secret_generated, state, ended_at_ms, due_at_ms, sender_id)
  SELECT ${idOf("msg", "n")}, ${accountOf("n")}, 'job', ${idOf("job", "n")}, 'https://a.example', 'sealed', true,
    CASE n % 100 WHEN 0 THEN 'pending' ELSE 'delivered' END, ${MADE_AT_MS} + n * 1000, ${MADE_AT_MS} + n * 1000, 'c' || n % 3
  FROM generate_series(0, 2999) n;
INSERT INTO messages (id, conversation_id, role, content, state, job_id, created_at_ms, keeper_id)
  SELECT ${idOf("msg", "n")}, ${idOf("conv", "n % 1000")}, CASE n / 1000 % 2 WHEN 0 THEN 'user' ELSE 'assistant' END, '"hello"',
    CASE WHEN n >= 5000 AND n % 100 = 0 THEN 'in_progress' ELSE 'completed' END,
    CASE n / 1000 % 2 WHEN 1 THEN ${idOf("job", "n")} END, ${MADE_AT_MS}, 'c' || n % 3
  FROM generate_series(0, 5999) n;
INSERT INTO entries (txn, party, micro, kind, job_id, at_ms)
  SELECT n / 3 * 3 + 1, (ARRAY['client:', 'hold:', 'island:'])[1 + n % 3] || ${accountOf("n / 3")}, 1, (ARRAY['hold', 'charge', 'earning'])[1 + n % 3],
    ${idOf("job", "n / 3")}, ${MADE_AT_MS} FROM generate_series(0, ${3 * JOBS - 1}) n;
INSERT INTO account_usage (account_id, day, kind, slug, key_id, micro, jobs, prompt_tokens, completion_tokens)
  SELECT ${accountNumber("n")}, 20000 + day, 'spent', 'tiny-chat', '', 1, 1, 1, 1 FROM generate_series(0, 999) n, generate_series(0, 9) day;
INSERT INTO key_spending (key_number, month, micro) SELECT number, 672, 1 FROM api_keys;
INSERT INTO email_changes (account_id, token_hash, email, expires_at_ms)
  SELECT ${accountNumber("n")}, 'change' || n, n || '@e.example', ${MADE_AT_MS} + n * 1000 FROM generate_series(0, 999) n;
UPDATE usage_cursor SET entry = (SELECT max(id) - 100 FROM entries), next_entry = (SELECT max(id) - 50 FROM entries);
UPDATE earnings_cursor SET entry = (SELECT max(id) - 100 FROM entries), next_entry = (SELECT max(id) - 50 FROM entries);
INSERT INTO cargo_numbers (number, slug) SELECT n, 'cargo-' || n FROM generate_series(1, 200) n;
INSERT INTO cargos (slug, owner_id, file, enabled, approved, revision, created_at_ms, updated_at_ms)
  SELECT 'cargo-' || n, ${accountOf("n")}, '{"name":"' || repeat('n', 2000) || '"}', true, true, 1, 1, 1 FROM generate_series(1, 200) n;
ANALYZE`;
