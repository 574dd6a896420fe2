/** Limits of single API keys, what jobs cost by key, when sessions were last used, and addresses that a mail must prove. Frozen once released. */
export const keyLimits = `
ALTER TABLE api_keys ADD COLUMN expires_at_ms bigint;
-- Slugs as a JSON array; null: all Cargos.
ALTER TABLE api_keys ADD COLUMN cargos text;
ALTER TABLE api_keys ADD COLUMN monthly_micro bigint CHECK (monthly_micro >= 0);
DROP TRIGGER api_key_changed ON api_keys;
CREATE TRIGGER api_key_changed
  AFTER UPDATE OF id, account_id, scopes, secret_hash, expires_at_ms, cargos, monthly_micro ON api_keys
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();

-- What the jobs of a key with a monthly limit cost in its month (UTC, months since January 1970): charged, or held while unfinished. Written
-- under the lock of the account's balance.
CREATE TABLE key_spending (
  key_id text COLLATE "C" PRIMARY KEY,
  month int NOT NULL,
  micro bigint NOT NULL CHECK (micro >= 0)
) WITH (fillfactor = 70);
CREATE INDEX key_spending_by_month ON key_spending (month);

ALTER TABLE jobs ADD COLUMN key_id text COLLATE "C";
-- The month of key_spending that has the job; null if none has.
ALTER TABLE jobs ADD COLUMN key_month int;

ALTER TABLE sessions ADD COLUMN last_used_at_ms bigint;
DROP TRIGGER session_changed ON sessions;
CREATE TRIGGER session_changed AFTER UPDATE OF token_hash, account_id, expires_at_ms ON sessions
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();

-- The address that an account gets once a mail has proved it.
CREATE TABLE email_changes (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts (id),
  token_hash text COLLATE "C" NOT NULL UNIQUE,
  email text NOT NULL,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX email_changes_by_expiry ON email_changes (expires_at_ms);

-- Sums of the ledger's entries up to the one that usage_cursor names, by UTC day (days since 1970). key_id is empty for none.
CREATE TABLE account_usage (
  account_id text COLLATE "C" NOT NULL,
  day int NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('spent', 'earned')),
  slug text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  micro bigint NOT NULL,
  jobs bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  PRIMARY KEY (account_id, day, kind, slug, key_id)
) WITH (fillfactor = 70);
CREATE INDEX account_usage_by_day ON account_usage (day);
-- As earnings_cursor.
CREATE TABLE usage_cursor (entry bigint NOT NULL, next_entry bigint NOT NULL, next_xid xid8 NOT NULL);
INSERT INTO usage_cursor VALUES (0, 0, '0');
`;
