/** Prices that the operator set for shipped Cargos, and what operators said of grants. Frozen once released. */
export const pricesAndNotes = `
CREATE TABLE cargo_prices (
  slug TEXT PRIMARY KEY,
  micro INTEGER NOT NULL CHECK (micro >= 0),
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- txn is that of the ledger's entries.
CREATE TABLE ledger_notes (
  txn INTEGER PRIMARY KEY,
  note TEXT NOT NULL
) STRICT;
`;
