/** Frozen once released: a change is a new migration. */
export const hostsSignUpsSecrets = `
-- To count and drop the hosts of an account, the one unseen for longest first.
CREATE INDEX islands_by_account ON islands (account_id, last_seen_at_ms);

-- Registrations that wait for their proof by mail. Only the hash of the mailed token is stored.
CREATE TABLE sign_ups (
  token_hash TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  email_key TEXT NOT NULL UNIQUE,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_ups_by_expiry ON sign_ups (expires_at_ms);

-- Secrets in clear, which the next start seals (sealSecretsInClear). Empty from then on.
CREATE INDEX webhooks_in_clear ON webhooks (id) WHERE secret GLOB 'whsec_*';
`;
