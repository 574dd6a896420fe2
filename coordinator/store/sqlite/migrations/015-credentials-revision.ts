/**
 * A number that grows with every change after which a known API key, session or limit of an account means something else. Triggers
 * raise it, so that no writer can forget to, in this process or another. New keys and sessions do not change what others mean, and
 * neither does the note of when a key was last used.
 * Frozen once released: a change is a new migration.
 */
export const credentialsRevision = `
CREATE TABLE credentials_revision (revision INTEGER NOT NULL) STRICT;
INSERT INTO credentials_revision VALUES (0);

CREATE TRIGGER api_key_changed AFTER UPDATE OF id, account_id, scopes, secret_hash, revoked_at_ms ON api_keys
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
CREATE TRIGGER api_key_deleted AFTER DELETE ON api_keys
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;

CREATE TRIGGER session_changed AFTER UPDATE ON sessions
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
CREATE TRIGGER session_deleted AFTER DELETE ON sessions
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;

CREATE TRIGGER account_limits_changed
AFTER UPDATE OF id, requests_per_minute, concurrent_jobs, concurrent_streams, share ON accounts
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
`;
