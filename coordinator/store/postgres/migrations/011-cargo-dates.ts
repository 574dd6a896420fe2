/** When each slug came into the catalog; that of a shipped Cargo in an older database is not known. Frozen once released. */
export const cargoDates = `
-- The default is for the rows that there are, and for coordinators of an earlier version.
ALTER TABLE cargo_numbers
  ADD COLUMN created_at_ms bigint NOT NULL DEFAULT (floor(extract(epoch FROM now()) * 1000))::bigint;
UPDATE cargo_numbers SET created_at_ms = cargos.created_at_ms FROM cargos WHERE cargos.slug = cargo_numbers.slug;
`;
