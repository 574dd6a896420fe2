/** Indexes for counting an account's credentials when it makes another. Frozen once released: a change is a new migration. */
export const credentialCaps = `
CREATE INDEX api_keys_by_revocation ON api_keys (account_id, revoked_at_ms);
CREATE INDEX sessions_by_account ON sessions (account_id, created_at_ms);
`;
