/** Prices that the operator set for shipped Cargos, and what operators said of grants. Frozen once released. */
export const pricesAndNotes = `
CREATE TABLE cargo_prices (
  slug text COLLATE "C" PRIMARY KEY,
  micro bigint NOT NULL CHECK (micro >= 0),
  at_ms bigint NOT NULL
);
-- txn is that of the ledger's entries.
CREATE TABLE ledger_notes (
  txn bigint PRIMARY KEY,
  note text NOT NULL
);
`;
