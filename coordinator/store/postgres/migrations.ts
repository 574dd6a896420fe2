import { migrationsOf } from "../steps/schema.ts";

/**
 * SQL that `schema.ts` does not generate: tables that only the engine uses, triggers, first rows. Frozen once released.
 */
const BASELINE = `
CREATE TABLE checks (
  id int PRIMARY KEY CHECK (id = 1),
  count bigint NOT NULL
);
CREATE TABLE coordinators (
  id text COLLATE "C" PRIMARY KEY,
  address text NOT NULL,
  version text NOT NULL,
  lease_until_ms bigint NOT NULL
);
CREATE TABLE secrets (
  name text COLLATE "C" PRIMARY KEY,
  sealed text NOT NULL
);
-- When a task was last done that one coordinator does for all.
CREATE TABLE turns (
  task text COLLATE "C" PRIMARY KEY,
  taken_at_ms bigint NOT NULL
);
CREATE SEQUENCE island_sessions;

INSERT INTO balances (party, micro) VALUES ('network', 0);
INSERT INTO catalog_revision (id, revision) VALUES (1, 0);
INSERT INTO checks (id, count) VALUES (1, 0);
INSERT INTO credentials_revision (revision) VALUES (0);
INSERT INTO earnings_cursor (entry, next_entry, next_xid) VALUES (0, 0, '0');
INSERT INTO usage_cursor (entry, next_entry, next_xid) VALUES (0, 0, '0');

CREATE FUNCTION note_credential_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE credentials_revision SET revision = revision + 1;
  INSERT INTO credential_ends (revision, credential, at_ms)
  SELECT revision, to_jsonb(OLD)->>TG_ARGV[0], extract(epoch FROM clock_timestamp()) * 1000 FROM credentials_revision;
  RETURN NULL;
END $$;
CREATE FUNCTION note_credential_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A statement that removed nothing runs this too.
  IF NOT EXISTS (SELECT 1 FROM gone) THEN RETURN NULL; END IF;
  UPDATE credentials_revision SET revision = revision + 1;
  INSERT INTO credential_ends (revision, credential, at_ms)
  SELECT revision, to_jsonb(gone)->>TG_ARGV[0], extract(epoch FROM clock_timestamp()) * 1000 FROM gone, credentials_revision;
  RETURN NULL;
END $$;
CREATE FUNCTION raise_credentials_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE credentials_revision SET revision = revision + 1;
  RETURN NULL;
END $$;
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only';
END $$;

CREATE TRIGGER account_limits_changed AFTER UPDATE OF id, requests_per_minute, concurrent_jobs, concurrent_streams, share ON accounts
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();
CREATE TRIGGER account_standing_changed AFTER UPDATE OF role, suspended_at_ms, suspended_because ON accounts
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();
CREATE TRIGGER api_key_changed AFTER UPDATE OF id, account_id, scopes, secret_hash, expires_at_ms, cargos, monthly_micro ON api_keys
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();
CREATE TRIGGER api_key_ended AFTER DELETE ON api_keys REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_credential_ends('id');
CREATE TRIGGER api_key_revoked AFTER UPDATE OF revoked_at_ms ON api_keys
  FOR EACH ROW EXECUTE FUNCTION note_credential_end('id');
CREATE TRIGGER audit_log_never_changes BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER entries_are_append_only BEFORE DELETE OR UPDATE ON entries
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER island_suspended AFTER INSERT OR DELETE ON suspended_islands
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();
CREATE TRIGGER island_token_ended AFTER DELETE ON island_tokens REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_credential_ends('id');
CREATE TRIGGER island_token_revoked AFTER UPDATE OF revoked_at_ms ON island_tokens
  FOR EACH ROW EXECUTE FUNCTION note_credential_end('id');
CREATE TRIGGER session_changed AFTER UPDATE OF token_hash, account_id, expires_at_ms ON sessions
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();
CREATE TRIGGER session_ended AFTER DELETE ON sessions REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_credential_ends('token_hash');
`;

export const MIGRATIONS = migrationsOf("postgres", BASELINE);
