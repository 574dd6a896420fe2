/** What hosts see of their Islands, and the codes with which they add one. Frozen once released. */
export const hosts = `
ALTER TABLE island_tokens ADD COLUMN last_used_at_ms bigint;

-- Null where an earlier version wrote the row.
ALTER TABLE islands ADD COLUMN first_seen_at_ms bigint;
UPDATE islands SET first_seen_at_ms = last_seen_at_ms;
ALTER TABLE islands ADD COLUMN name text;
ALTER TABLE islands ADD COLUMN host_name text;
-- Its owner sent it away: it may come back with a token that is made later.
ALTER TABLE islands ADD COLUMN removed_at_ms bigint;

CREATE TABLE pairing_codes (
  code_hash text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX pairing_codes_by_account ON pairing_codes (account_id);
CREATE INDEX pairing_codes_by_expiry ON pairing_codes (expires_at_ms);

-- What Islands did, by UTC day (days since 1970).
CREATE TABLE island_days (
  account_id text COLLATE "C" NOT NULL,
  host_id text COLLATE "C" NOT NULL,
  day int NOT NULL,
  online_ms bigint NOT NULL,
  completed bigint NOT NULL,
  failed bigint NOT NULL,
  cancelled bigint NOT NULL,
  timed_out bigint NOT NULL,
  retried bigint NOT NULL,
  tokens bigint NOT NULL,
  PRIMARY KEY (account_id, host_id, day)
) WITH (fillfactor = 70);
CREATE INDEX island_days_by_day ON island_days (day);

-- Sums of the ledger's entries up to the one that earnings_cursor names.
CREATE TABLE island_earnings (
  account_id text COLLATE "C" NOT NULL,
  host_id text COLLATE "C" NOT NULL,
  day int NOT NULL,
  micro bigint NOT NULL,
  PRIMARY KEY (account_id, host_id, day)
);
CREATE INDEX island_earnings_by_day ON island_earnings (day);
-- Entries up to next_entry are final once every transaction before next_xid has ended: numbers are drawn before a commit, and commits come
-- in another order.
CREATE TABLE earnings_cursor (entry bigint NOT NULL, next_entry bigint NOT NULL, next_xid xid8 NOT NULL);
INSERT INTO earnings_cursor VALUES (0, 0, '0');
`;
