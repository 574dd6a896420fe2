/** When each slug came into the catalog; that of a shipped Cargo in an older database is not known. Frozen once released. */
export const cargoDates = `
ALTER TABLE cargo_numbers ADD COLUMN created_at_ms INTEGER NOT NULL DEFAULT 0;
UPDATE cargo_numbers SET created_at_ms =
  coalesce((SELECT created_at_ms FROM cargos WHERE cargos.slug = cargo_numbers.slug), unixepoch() * 1000);
`;
