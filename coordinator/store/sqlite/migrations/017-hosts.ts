/** What hosts see of their Islands, and the codes with which they add one. Frozen once released: a change is a new migration. */
export const hosts = `
ALTER TABLE island_tokens ADD COLUMN last_used_at_ms INTEGER;

-- Each is exchanged for an Island token, once. Only the hash of the code is stored.
CREATE TABLE pairing_codes (
  code_hash TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pairing_codes_by_account ON pairing_codes (account_id);
CREATE INDEX pairing_codes_by_expiry ON pairing_codes (expires_at_ms);
`;
