import { migrationsOf } from "../steps/schema.ts";

/**
 * SQL that `schema.ts` does not generate: tables that only the engine uses, triggers, first rows. Frozen once released.
 */
const BASELINE = `
CREATE TABLE checks (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  count INTEGER NOT NULL
) STRICT;

INSERT INTO balances (party, micro) VALUES ('network', 0);
INSERT INTO catalog_revision (id, revision) VALUES (1, 0);
INSERT INTO checks (id, count) VALUES (1, 0);
INSERT INTO credentials_revision (revision) VALUES (0);
INSERT INTO earnings_cursor (entry) VALUES (0);
INSERT INTO key_numbers (last) VALUES (0);
INSERT INTO usage_cursor (entry) VALUES (0);

CREATE TRIGGER entries_are_not_updated BEFORE UPDATE ON entries
BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries
BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- An index of entries by account that is written 256 entries at a time.
CREATE TRIGGER entries_become_lines AFTER INSERT ON entries WHEN new.id % 256 = 0
BEGIN
  INSERT INTO ledger_lines (party, entry, micro)
    SELECT party, id, micro FROM entries
    WHERE id > new.id - 256 AND id <= new.id AND (kind = 'charge' OR party GLOB 'client:*')
    ORDER BY party, id;
END;

-- A running coordinator reads the revision with every request: other processes change credentials too.
CREATE TRIGGER api_key_deleted AFTER DELETE ON api_keys
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
CREATE TRIGGER session_deleted AFTER DELETE ON sessions
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
CREATE TRIGGER account_limits_changed
AFTER UPDATE OF id, requests_per_minute, concurrent_jobs, concurrent_streams, share ON accounts
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
CREATE TRIGGER api_key_changed
AFTER UPDATE OF id, account_id, scopes, secret_hash, revoked_at_ms, expires_at_ms, cargos, monthly_micro ON api_keys
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
CREATE TRIGGER session_changed AFTER UPDATE OF token_hash, account_id, expires_at_ms ON sessions
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
CREATE TRIGGER account_standing_changed AFTER UPDATE OF role, suspended_at_ms, suspended_because ON accounts
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
CREATE TRIGGER island_suspended AFTER INSERT ON suspended_islands
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
CREATE TRIGGER island_reinstated AFTER DELETE ON suspended_islands
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;

CREATE TRIGGER api_key_numbered AFTER INSERT ON api_keys
BEGIN
  UPDATE key_numbers SET last = max(last + (new.number IS NULL), coalesce(new.number, 0));
  UPDATE api_keys SET number = (SELECT last FROM key_numbers) WHERE id = new.id AND number IS NULL;
END;

CREATE TRIGGER audit_log_never_changes BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_log_never_shrinks BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_log_never_replaced BEFORE INSERT ON audit_log WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
`;

export const MIGRATIONS = migrationsOf("sqlite", BASELINE);
