/**
 * Limits of single API keys, what jobs cost by key, when sessions were last used, and addresses that a mail must prove.
 * Frozen once released: a change is a new migration.
 */
export const keyLimits = `
ALTER TABLE api_keys ADD COLUMN expires_at_ms INTEGER;
-- Slugs as a JSON array; null: all Cargos.
ALTER TABLE api_keys ADD COLUMN cargos TEXT;
ALTER TABLE api_keys ADD COLUMN monthly_micro INTEGER CHECK (monthly_micro >= 0);
-- A short name for the rows of jobs: with the id they would spill into a page more. Numbers are never used again.
ALTER TABLE api_keys ADD COLUMN number INTEGER;
UPDATE api_keys SET number = numbered.number
  FROM (SELECT id, row_number() OVER (ORDER BY id) AS number FROM api_keys) AS numbered WHERE numbered.id = api_keys.id;
CREATE UNIQUE INDEX api_keys_by_number ON api_keys (number);
CREATE TABLE key_numbers (last INTEGER NOT NULL) STRICT;
INSERT INTO key_numbers SELECT coalesce(max(number), 0) FROM api_keys;
CREATE TRIGGER api_key_numbered AFTER INSERT ON api_keys
BEGIN
  UPDATE key_numbers SET last = max(last + (new.number IS NULL), coalesce(new.number, 0));
  UPDATE api_keys SET number = (SELECT last FROM key_numbers) WHERE id = new.id AND number IS NULL;
END;
DROP TRIGGER api_key_changed;
CREATE TRIGGER api_key_changed
AFTER UPDATE OF id, account_id, scopes, secret_hash, revoked_at_ms, expires_at_ms, cargos, monthly_micro ON api_keys
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;

-- What the jobs of a key with a monthly limit cost in its month (UTC, months since January 1970): charged, or held while unfinished.
CREATE TABLE key_spending (
  key_number INTEGER PRIMARY KEY,
  month INTEGER NOT NULL,
  micro INTEGER NOT NULL CHECK (micro >= 0)
) STRICT;
CREATE INDEX key_spending_by_month ON key_spending (month);

ALTER TABLE jobs ADD COLUMN key_number INTEGER;
-- The month of key_spending that has the job; null if none has.
ALTER TABLE jobs ADD COLUMN key_month INTEGER;

ALTER TABLE sessions ADD COLUMN last_used_at_ms INTEGER;
DROP TRIGGER session_changed;
CREATE TRIGGER session_changed AFTER UPDATE OF token_hash, account_id, expires_at_ms ON sessions
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;

-- The address that an account gets once a mail has proved it.
CREATE TABLE email_changes (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  token_hash TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX email_changes_by_expiry ON email_changes (expires_at_ms);

-- Sums of the ledger's entries up to the one that usage_cursor names, by UTC day (days since 1970). key_id is empty for none.
CREATE TABLE account_usage (
  account_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('spent', 'earned')),
  slug TEXT NOT NULL,
  key_id TEXT NOT NULL,
  micro INTEGER NOT NULL,
  jobs INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  PRIMARY KEY (account_id, day, kind, slug, key_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_usage_by_day ON account_usage (day);
CREATE TABLE usage_cursor (entry INTEGER NOT NULL) STRICT;
INSERT INTO usage_cursor VALUES (0);
`;
