/**
 * What the operator approved last of each Cargo, shipped ones included. `file`: the approved definition with its pins, JSON like a file of
 * catalog/cargos. `revision`: its hash (catalog/approval-rules.ts). `approved_by`: the user who ran the command.
 */
export const cargoApprovals = `
CREATE TABLE cargo_approvals (
  slug TEXT PRIMARY KEY,
  file TEXT NOT NULL,
  revision TEXT NOT NULL,
  approved_by TEXT NOT NULL,
  approved_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
