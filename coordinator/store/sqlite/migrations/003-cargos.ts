/**
 * Cargos that are not shipped. `file`: JSON like a file of catalog/cargos. `owner_id` NULL: imported by the operator. A deleted Cargo
 * keeps its row, so that nobody else gets its slug. A Cargo's `revision` counts its own changes, the catalog's counts all changes.
 */
export const cargos = `
CREATE TABLE cargos (
  slug TEXT PRIMARY KEY,
  owner_id TEXT REFERENCES accounts (id),
  file TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  approved INTEGER NOT NULL CHECK (approved IN (0, 1)),
  revision INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  deleted_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX cargos_by_owner ON cargos (owner_id, slug) WHERE deleted_at_ms IS NULL;

-- Switched off by the operator, shipped ones included.
CREATE TABLE disabled_cargos (
  slug TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE catalog_revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL
) STRICT;
INSERT INTO catalog_revision (id, revision) VALUES (1, 0);
`;
