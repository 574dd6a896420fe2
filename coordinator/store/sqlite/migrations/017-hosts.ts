/** What hosts see of their Islands, and the codes with which they add one. Frozen once released: a change is a new migration. */
export const hosts = `
ALTER TABLE island_tokens ADD COLUMN last_used_at_ms INTEGER;

-- Null where an earlier version wrote the row.
ALTER TABLE islands ADD COLUMN first_seen_at_ms INTEGER;
UPDATE islands SET first_seen_at_ms = last_seen_at_ms;
ALTER TABLE islands ADD COLUMN name TEXT;
ALTER TABLE islands ADD COLUMN host_name TEXT;
-- Its owner sent it away: it may come back with a token that is made later.
ALTER TABLE islands ADD COLUMN removed_at_ms INTEGER;

-- Each is exchanged for an Island token, once. Only the hash of the code is stored.
CREATE TABLE pairing_codes (
  code_hash TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pairing_codes_by_account ON pairing_codes (account_id);
CREATE INDEX pairing_codes_by_expiry ON pairing_codes (expires_at_ms);

-- What Islands did, by UTC day (days since 1970).
CREATE TABLE island_days (
  account_id TEXT NOT NULL,
  host_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  online_ms INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  timed_out INTEGER NOT NULL,
  retried INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (account_id, host_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX island_days_by_day ON island_days (day);

-- Sums of the ledger's entries up to the one that earnings_cursor names.
CREATE TABLE island_earnings (
  account_id TEXT NOT NULL,
  host_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  micro INTEGER NOT NULL,
  PRIMARY KEY (account_id, host_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX island_earnings_by_day ON island_earnings (day);
CREATE TABLE earnings_cursor (entry INTEGER NOT NULL) STRICT;
INSERT INTO earnings_cursor VALUES (0);
`;
