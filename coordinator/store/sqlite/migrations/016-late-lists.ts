/**
 * What only lists read is written later, for many jobs at once. A job that has ended is `is_unlisted` until the indexes of ended jobs get
 * it with others (see `job-listing.ts`). `ledger_lines` is in place of an index of `entries`: it gets the entries that make lines 256 at a
 * time, so that it has exactly those up to the last id that 256 divides. Frozen once released: a change is a new migration.
 */
export const lateLists = `
ALTER TABLE jobs ADD COLUMN is_unlisted INTEGER NOT NULL DEFAULT 0 CHECK (is_unlisted IN (0, 1));
CREATE INDEX jobs_unlisted ON jobs (id) WHERE is_unlisted = 1;

DROP INDEX jobs_ended;
CREATE INDEX jobs_ended ON jobs (completed_at_ms, state, slug) WHERE completed_at_ms IS NOT NULL AND is_unlisted = 0;

-- For a list of one Cargo too: it costs no more than the same list of all Cargos.
DROP INDEX jobs_ended_by_cargo;
DROP INDEX jobs_ended_by_state;
CREATE INDEX jobs_ended_by_state ON jobs (account_id, state, id, slug, completed_at_ms)
  WHERE completed_at_ms IS NOT NULL AND is_unlisted = 0;

CREATE TABLE ledger_lines (
  party TEXT NOT NULL,
  entry INTEGER NOT NULL,
  micro INTEGER NOT NULL,
  PRIMARY KEY (party, entry)
) STRICT, WITHOUT ROWID;
INSERT INTO ledger_lines (party, entry, micro)
  SELECT party, id, micro FROM entries
  WHERE id <= (SELECT max(id) FROM entries) / 256 * 256 AND (kind = 'charge' OR party GLOB 'client:*')
  ORDER BY party, id;
DROP INDEX entries_by_account;
CREATE TRIGGER entries_become_lines AFTER INSERT ON entries WHEN new.id % 256 = 0
BEGIN
  INSERT INTO ledger_lines (party, entry, micro)
    SELECT party, id, micro FROM entries
    WHERE id > new.id - 256 AND id <= new.id AND (kind = 'charge' OR party GLOB 'client:*')
    ORDER BY party, id;
END;
`;
