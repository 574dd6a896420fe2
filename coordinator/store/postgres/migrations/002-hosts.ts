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
`;
