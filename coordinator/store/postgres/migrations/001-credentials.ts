/** The part of the first migration that has credentials, and by which coordinators learn that they have changed. Frozen once released. */
export const credentials = `
CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  prefix text NOT NULL,
  scopes text NOT NULL,
  secret_hash text COLLATE "C" NOT NULL UNIQUE,
  created_at_ms bigint NOT NULL,
  last_used_at_ms bigint,
  revoked_at_ms bigint
);
CREATE INDEX api_keys_by_account ON api_keys (account_id, id);

CREATE TABLE sessions (
  token_hash text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms);
CREATE INDEX sessions_by_account ON sessions (account_id, created_at_ms);

CREATE TABLE password_resets (
  token_hash text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  expires_at_ms bigint NOT NULL
);
CREATE INDEX password_resets_by_account ON password_resets (account_id);

CREATE TABLE sign_ups (
  token_hash text COLLATE "C" PRIMARY KEY,
  email text NOT NULL,
  email_key text COLLATE "C" NOT NULL UNIQUE,
  expires_at_ms bigint NOT NULL
);
CREATE INDEX sign_ups_by_expiry ON sign_ups (expires_at_ms);

CREATE TABLE island_tokens (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  token_hash text COLLATE "C" NOT NULL UNIQUE,
  created_at_ms bigint NOT NULL,
  revoked_at_ms bigint
);
CREATE INDEX island_tokens_by_account ON island_tokens (account_id, id);

-- Grows with every change after which a key, a session, an Island token or a limit that was read before means something else.
CREATE TABLE credentials_revision (revision bigint NOT NULL);
INSERT INTO credentials_revision VALUES (0);
CREATE FUNCTION raise_credentials_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE credentials_revision SET revision = revision + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER api_key_changed AFTER UPDATE OF id, account_id, scopes, secret_hash ON api_keys
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();
CREATE TRIGGER session_changed AFTER UPDATE ON sessions
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();
CREATE TRIGGER account_limits_changed
  AFTER UPDATE OF id, requests_per_minute, concurrent_jobs, concurrent_streams, share ON accounts
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();

-- Credentials that ended, kept for an hour: each coordinator ends what is open with them. A key's or token's id, or the hash of a session's token.
CREATE TABLE credential_ends (
  revision bigint NOT NULL,
  credential text COLLATE "C" NOT NULL,
  -- By the clock of the database.
  at_ms bigint NOT NULL
);
CREATE INDEX credential_ends_by_revision ON credential_ends (revision);
CREATE FUNCTION note_credential_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE credentials_revision SET revision = revision + 1;
  INSERT INTO credential_ends (revision, credential, at_ms)
  SELECT revision, to_jsonb(OLD)->>TG_ARGV[0], extract(epoch FROM clock_timestamp()) * 1000 FROM credentials_revision;
  RETURN NULL;
END $$;
CREATE TRIGGER api_key_ended AFTER UPDATE OF revoked_at_ms OR DELETE ON api_keys
  FOR EACH ROW EXECUTE FUNCTION note_credential_end('id');
CREATE TRIGGER session_ended AFTER DELETE ON sessions
  FOR EACH ROW EXECUTE FUNCTION note_credential_end('token_hash');
CREATE TRIGGER island_token_ended AFTER UPDATE OF revoked_at_ms OR DELETE ON island_tokens
  FOR EACH ROW EXECUTE FUNCTION note_credential_end('id');
`;
