/** Operators: who is one, what they suspended and announced, and the log of what they did. Frozen once released. */
export const operators = `
ALTER TABLE accounts ADD COLUMN role text NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'operator'));
-- Both null, or both set.
ALTER TABLE accounts ADD COLUMN suspended_at_ms bigint;
ALTER TABLE accounts ADD COLUMN suspended_because text;
CREATE INDEX accounts_suspended ON accounts (id) WHERE suspended_at_ms IS NOT NULL;
CREATE INDEX accounts_by_role ON accounts (role, id) WHERE role <> 'user';
CREATE TRIGGER account_standing_changed AFTER UPDATE OF role, suspended_at_ms, suspended_because ON accounts
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();

-- Apart from the Islands, as those are forgotten and come back.
CREATE TABLE suspended_islands (
  host_id text COLLATE "C" PRIMARY KEY,
  at_ms bigint NOT NULL,
  because text NOT NULL
);
CREATE TRIGGER island_suspended AFTER INSERT OR DELETE ON suspended_islands
  FOR EACH ROW EXECUTE FUNCTION raise_credentials_revision();

CREATE TABLE announcements (
  id text COLLATE "C" PRIMARY KEY,
  level text NOT NULL CHECK (level IN ('info', 'warning')),
  text text NOT NULL,
  created_at_ms bigint NOT NULL,
  until_ms bigint
);

-- Append-only: no program of this product can change or remove a line.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at_ms bigint NOT NULL,
  via text NOT NULL CHECK (via IN ('api', 'command')),
  actor text COLLATE "C" NOT NULL,
  origin text NOT NULL,
  action text COLLATE "C" NOT NULL,
  target_kind text NOT NULL,
  target_id text COLLATE "C" NOT NULL,
  before text,
  after text
);
CREATE INDEX audit_log_by_target ON audit_log (target_id, id);
CREATE INDEX audit_log_by_actor ON audit_log (actor, id);
CREATE INDEX audit_log_by_action ON audit_log (action, id);
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE TRIGGER audit_log_never_changes BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
`;
