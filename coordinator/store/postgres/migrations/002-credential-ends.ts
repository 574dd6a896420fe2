/**
 * Credentials that are removed together raise the revision once: a row that is updated for each of them would get as many versions, all
 * of which the next update reads. Frozen once released.
 */
export const credentialEnds = `
CREATE FUNCTION note_credential_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A statement that removed nothing runs this too.
  IF NOT EXISTS (SELECT 1 FROM gone) THEN RETURN NULL; END IF;
  UPDATE credentials_revision SET revision = revision + 1;
  INSERT INTO credential_ends (revision, credential, at_ms)
  SELECT revision, to_jsonb(gone)->>TG_ARGV[0], extract(epoch FROM clock_timestamp()) * 1000 FROM gone, credentials_revision;
  RETURN NULL;
END $$;

DROP TRIGGER session_ended ON sessions;
CREATE TRIGGER session_ended AFTER DELETE ON sessions REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_credential_ends('token_hash');

-- One at a time is revoked; all of an account are removed at once. A trigger that sees a statement's rows is for one kind of statement.
DROP TRIGGER api_key_ended ON api_keys;
CREATE TRIGGER api_key_revoked AFTER UPDATE OF revoked_at_ms ON api_keys
  FOR EACH ROW EXECUTE FUNCTION note_credential_end('id');
CREATE TRIGGER api_key_ended AFTER DELETE ON api_keys REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_credential_ends('id');
DROP TRIGGER island_token_ended ON island_tokens;
CREATE TRIGGER island_token_revoked AFTER UPDATE OF revoked_at_ms ON island_tokens
  FOR EACH ROW EXECUTE FUNCTION note_credential_end('id');
CREATE TRIGGER island_token_ended AFTER DELETE ON island_tokens REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_credential_ends('id');
`;
