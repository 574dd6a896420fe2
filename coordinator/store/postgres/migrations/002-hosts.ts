/** What hosts see of their Islands, and the codes with which they add one. Frozen once released. */
export const hosts = `
ALTER TABLE island_tokens ADD COLUMN last_used_at_ms bigint;

CREATE TABLE pairing_codes (
  code_hash text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX pairing_codes_by_account ON pairing_codes (account_id);
CREATE INDEX pairing_codes_by_expiry ON pairing_codes (expires_at_ms);
`;
