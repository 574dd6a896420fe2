/** Operators: who is one, what they suspended and announced, and the log of what they did. Frozen once released. */
export const operators = `
ALTER TABLE accounts ADD COLUMN role TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'operator'));
-- Both null, or both set.
ALTER TABLE accounts ADD COLUMN suspended_at_ms INTEGER;
ALTER TABLE accounts ADD COLUMN suspended_because TEXT;
CREATE INDEX accounts_suspended ON accounts (id) WHERE suspended_at_ms IS NOT NULL;
CREATE INDEX accounts_by_role ON accounts (role, id) WHERE role <> 'user';
CREATE TRIGGER account_standing_changed AFTER UPDATE OF role, suspended_at_ms, suspended_because ON accounts
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;

-- Apart from the Islands, as those are forgotten and come back.
CREATE TABLE suspended_islands (
  host_id TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  because TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER island_suspended AFTER INSERT ON suspended_islands
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;
CREATE TRIGGER island_reinstated AFTER DELETE ON suspended_islands
BEGIN UPDATE credentials_revision SET revision = revision + 1; END;

CREATE TABLE announcements (
  id TEXT PRIMARY KEY,
  level TEXT NOT NULL CHECK (level IN ('info', 'warning')),
  text TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  until_ms INTEGER
) STRICT, WITHOUT ROWID;

-- Append-only: no program of this product can change or remove a line.
CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  via TEXT NOT NULL CHECK (via IN ('api', 'command')),
  actor TEXT NOT NULL,
  origin TEXT NOT NULL,
  action TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id TEXT NOT NULL,
  before TEXT,
  after TEXT
) STRICT;
CREATE INDEX audit_log_by_target ON audit_log (target_id, id);
CREATE INDEX audit_log_by_actor ON audit_log (actor, id);
CREATE INDEX audit_log_by_action ON audit_log (action, id);
CREATE TRIGGER audit_log_never_changes BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_log_never_shrinks BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
-- INSERT OR REPLACE would remove a line without the trigger above.
CREATE TRIGGER audit_log_never_replaced BEFORE INSERT ON audit_log WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
`;
