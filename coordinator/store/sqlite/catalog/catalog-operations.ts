import type Database from "better-sqlite3";
import {
  MAX_HELD_SLUGS,
  MAX_OWNED_CARGOS,
  type CargoApproval,
  type NumberedCargo,
  type StoredCargo,
} from "../../catalog-store.ts";
import { REFUSALS } from "../../refusals.ts";

/** Counts the Cargos of an account, without deleted ones. */
export const COUNT_OWNED = "SELECT count(*) FROM cargos WHERE owner_id = ? AND deleted_at_ms IS NULL";

/** The row of a slug, as {@link NumberedCargo}. */
export type NumberRow = NumberedCargo & { readonly slug: string };
export const SELECT_NUMBERS = "SELECT slug, number, created_at_ms AS createdAtMs FROM cargo_numbers ORDER BY number";

/** What the database assigns to a stored Cargo. */
export type PutCargo = Pick<StoredCargo, "revision" | "createdAtMs">;

export interface CatalogOperations {
  /** Returns the rows of all slugs. */
  numberCargos(args: { slugs: readonly string[]; atMs: number }): NumberRow[];
  createCargo(args: { slug: string; ownerId: string; file: string; enabled: 0 | 1; atMs: number }): PutCargo;
  updateCargo(args: {
    slug: string;
    ownerId: string;
    revision: number;
    file: string;
    enabled: 0 | 1;
    approved: 0 | 1;
    atMs: number;
  }): boolean;
  removeCargo(args: { slug: string; ownerId: string; atMs: number }): boolean;
  importCargo(args: { slug: string; file: string; atMs: number }): PutCargo;
  approveCargo(args: { approval: CargoApproval & { readonly file: string }; storedRevision: number | null }): boolean;
  setCargoDisabled(args: { slug: string; disabled: boolean; atMs: number }): boolean;
  setCargoPrice(args: { slug: string; micro: number | null; atMs: number }): boolean;
}

export function catalogOperations(db: Database.Database): CatalogOperations {
  const insertSlug = db.prepare<[string, number]>(
    `INSERT INTO cargo_numbers (number, slug, created_at_ms)
     SELECT coalesce(max(number), 0) + 1, ?, ? FROM cargo_numbers WHERE true
     ON CONFLICT (slug) DO NOTHING`,
  );
  const allNumbers = db.prepare<[], NumberRow>(SELECT_NUMBERS);
  const selectHolder = db.prepare<[string], { ownerId: string | null; isDeleted: 0 | 1 }>(
    "SELECT owner_id AS ownerId, deleted_at_ms IS NOT NULL AS isDeleted FROM cargos WHERE slug = ?",
  );
  const countOwned = db.prepare<[string], number>(COUNT_OWNED).pluck();
  const countHeld = db.prepare<[string], number>("SELECT count(*) FROM cargos WHERE owner_id = ?").pluck();
  // Also reuses the row of a slug; the handlers have checked its owner.
  const put = db.prepare<[string, string | null, string, 0 | 1, 0 | 1, number, number], PutCargo>(
    `INSERT INTO cargos (slug, owner_id, file, enabled, approved, revision, created_at_ms, updated_at_ms)
     VALUES (?, ?, ?, ?, ?, 1, ?, ?)
     ON CONFLICT (slug) DO UPDATE SET file = excluded.file, enabled = excluded.enabled, approved = excluded.approved,
       revision = revision + 1, updated_at_ms = excluded.updated_at_ms, deleted_at_ms = NULL
     RETURNING revision, created_at_ms AS createdAtMs`,
  );
  const update = db.prepare<[string, 0 | 1, 0 | 1, number, string, string, number]>(
    `UPDATE cargos SET file = ?, enabled = ?, approved = ?, updated_at_ms = ?, revision = revision + 1
     WHERE slug = ? AND owner_id = ? AND revision = ? AND deleted_at_ms IS NULL`,
  );
  const remove = db.prepare<[number, string, string]>(
    `UPDATE cargos SET deleted_at_ms = ?, file = '', enabled = 0, approved = 0, revision = revision + 1
     WHERE slug = ? AND owner_id = ? AND deleted_at_ms IS NULL`,
  );
  const approve = db.prepare<[string, number, string, number]>(
    `UPDATE cargos SET approved = 1, file = ?, updated_at_ms = ?, revision = revision + 1
     WHERE slug = ? AND revision = ? AND deleted_at_ms IS NULL`,
  );
  const putApproval = db.prepare<[string, string, string, string, number]>(
    `INSERT INTO cargo_approvals (slug, file, revision, approved_by, approved_at_ms) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (slug) DO UPDATE SET file = excluded.file, revision = excluded.revision,
       approved_by = excluded.approved_by, approved_at_ms = excluded.approved_at_ms`,
  );
  const disable = db.prepare<[string, number]>(
    "INSERT INTO disabled_cargos (slug, at_ms) VALUES (?, ?) ON CONFLICT (slug) DO NOTHING",
  );
  const enable = db.prepare<[string]>("DELETE FROM disabled_cargos WHERE slug = ?");
  const putPrice = db.prepare<[string, number, number]>(
    `INSERT INTO cargo_prices (slug, micro, at_ms) VALUES (?, ?, ?)
     ON CONFLICT (slug) DO UPDATE SET micro = excluded.micro, at_ms = excluded.at_ms WHERE micro <> excluded.micro`,
  );
  const removePrice = db.prepare<[string]>("DELETE FROM cargo_prices WHERE slug = ?");
  const raise = db.prepare("UPDATE catalog_revision SET revision = revision + 1 WHERE id = 1");
  const raiseIf = (changes: number): boolean => {
    if (changes > 0) raise.run();
    return changes > 0;
  };
  const store = (...row: Parameters<typeof put.get>): PutCargo => {
    const stored = put.get(...row);
    if (stored === undefined) throw new Error(`Cargo ${row[0]} was not stored`);
    insertSlug.run(row[0], stored.createdAtMs);
    raise.run();
    return stored;
  };

  return {
    numberCargos({ slugs, atMs }) {
      for (const slug of slugs) insertSlug.run(slug, atMs);
      return allNumbers.all();
    },
    createCargo({ slug, ownerId, file, enabled, atMs }) {
      const holder = selectHolder.get(slug);
      const isOwn = holder?.ownerId === ownerId && holder.isDeleted === 1;
      if (holder !== undefined && !isOwn) throw REFUSALS.slug_taken(slug);
      if ((countOwned.get(ownerId) ?? 0) >= MAX_OWNED_CARGOS) {
        throw REFUSALS.too_many_cargos();
      }
      if (holder === undefined && (countHeld.get(ownerId) ?? 0) >= MAX_HELD_SLUGS) {
        throw REFUSALS.too_many_slugs();
      }
      return store(slug, ownerId, file, enabled, 0, atMs, atMs);
    },
    updateCargo: ({ slug, ownerId, revision, file, enabled, approved, atMs }) =>
      raiseIf(update.run(file, enabled, approved, atMs, slug, ownerId, revision).changes),
    removeCargo: ({ slug, ownerId, atMs }) => raiseIf(remove.run(atMs, slug, ownerId).changes),
    importCargo({ slug, file, atMs }) {
      const holder = selectHolder.get(slug);
      if (holder !== undefined && holder.ownerId !== null) throw REFUSALS.slug_taken(slug);
      return store(slug, null, file, 1, 1, atMs, atMs);
    },
    approveCargo({ approval: { slug, file, revision, by, atMs }, storedRevision }) {
      if (storedRevision !== null && approve.run(file, atMs, slug, storedRevision).changes === 0) return false;
      putApproval.run(slug, file, revision, by, atMs);
      enable.run(slug);
      return raiseIf(1);
    },
    setCargoDisabled: ({ slug, disabled, atMs }) =>
      raiseIf(disabled ? disable.run(slug, atMs).changes : enable.run(slug).changes),
    setCargoPrice: ({ slug, micro, atMs }) =>
      raiseIf(micro === null ? removePrice.run(slug).changes : putPrice.run(slug, micro, atMs).changes),
  };
}
