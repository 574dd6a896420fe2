import { ServiceError } from "../../shared/errors.ts";
import { assertPage, type Page } from "./steps/page.ts";
import { read, write } from "./steps/steps.ts";
import { flag, integer, json, key, named, nullable, small, Table, text, type RowOf } from "./steps/table.ts";
import { countRows, forUpdate, selectColumn, type Tx } from "./steps/tx.ts";

/** Cargos of accounts, and Cargos that the operator imported. Shipped Cargos are files. */
export const cargoTable = new Table(
  "cargos",
  {
    slug: key("PRIMARY KEY"),
    /** Account that owns the Cargo; null if the operator imported it. */
    ownerId: nullable(key("REFERENCES accounts (id)")),
    /** Cargo definition, as JSON of the format of `catalog/cargos`; checked before it is stored. */
    file: json(),
    isEnabled: named("enabled", flag()),
    isApproved: named("approved", flag()),
    /** Version of the row: starts at 1, and each change adds 1. */
    revision: integer(),
    createdAtMs: integer(),
    updatedAtMs: integer(),
    deletedAtMs: nullable(integer()),
  },
  {
    indexes: [
      "CREATE INDEX cargos_by_owner ON cargos (owner_id, slug) WHERE deleted_at_ms IS NULL",
      "CREATE INDEX cargos_by_holder ON cargos (owner_id)",
    ],
  },
);

/** Number and first date of each slug. A row outlives its Cargo, so that a number is never reused. */
export const cargoNumberTable = new Table(
  "cargo_numbers",
  {
    /** The `workload_id` of the spec. */
    number: integer("PRIMARY KEY"),
    slug: key("UNIQUE"),
    /** Time when the slug first entered the catalog. */
    createdAtMs: integer({ sqlite: "DEFAULT 0", postgres: "DEFAULT floor(extract(epoch FROM now()) * 1000)::bigint" }),
  },
  { hasRowid: true },
);

/** Latest approval of each Cargo. It also covers later definitions with no change that needs approval. */
export const cargoApprovalTable = new Table("cargo_approvals", {
  slug: key("PRIMARY KEY"),
  /** Approved definition with its pins. */
  file: json(),
  revision: text(),
  /** Operating system user who approved the definition. */
  by: named("approved_by", text()),
  atMs: named("approved_at_ms", integer()),
});

/** Cargos, including shipped Cargos, that the operator disabled for all accounts. */
export const disabledCargoTable = new Table("disabled_cargos", {
  slug: key("PRIMARY KEY"),
  atMs: integer(),
});

/** Prices that the operator set for shipped Cargos, in micro-credits per job. */
export const cargoPriceTable = new Table("cargo_prices", {
  slug: key("PRIMARY KEY"),
  micro: integer("CHECK (micro >= 0)"),
  atMs: integer(),
});

/** A single row, whose `revision` every write to the catalog increments. */
export const catalogRevisionTable = new Table(
  "catalog_revision",
  {
    id: small("PRIMARY KEY CHECK (id = 1)"),
    revision: integer(),
  },
  { hasRowid: true },
);

export type StoredCargo = Omit<RowOf<typeof cargoTable>, "deletedAtMs">;
export type CargoApproval = RowOf<typeof cargoApprovalTable>;
export type NumberedCargo = Omit<RowOf<typeof cargoNumberTable>, "slug">;
type CargoNumbers = ReadonlyMap<string, NumberedCargo>;

export interface CatalogSnapshot {
  readonly revision: number;
  /** The Cargos. All lists are sorted by slug. */
  readonly cargos: readonly StoredCargo[];
  readonly disabledSlugs: readonly string[];
  readonly approvals: readonly CargoApproval[];
  /** Prices of shipped Cargos that the operator set, in micro-credits per job by slug. */
  readonly pricesMicro: ReadonlyMap<string, number>;
}

export const MAX_OWNED_CARGOS = 50;
/**
 * Maximum number of slugs that an account may ever use, because a slug keeps its number and owner after its Cargo is
 * deleted.
 */
export const MAX_HELD_SLUGS = 1_000;

const SELECT = `SELECT ${cargoTable.columnsBut("deletedAtMs")} FROM cargos WHERE deleted_at_ms IS NULL`;
const ALL_SLUGS = "FROM cargos WHERE owner_id = @ownerId";
const OWNED = `${ALL_SLUGS} AND deleted_at_ms IS NULL`;
const REVISION = "SELECT revision FROM catalog_revision WHERE id = 1";

async function numbers(tx: Tx): Promise<CargoNumbers> {
  type Row = RowOf<typeof cargoNumberTable>;
  const rows = await tx.all<Row>(`SELECT ${cargoNumberTable.all} FROM cargo_numbers ORDER BY number`);
  return new Map(rows.map(({ slug, ...numbered }) => [slug, numbered]));
}

async function numberCargo(tx: Tx, slug: string, atMs: number): Promise<void> {
  const sql = `INSERT INTO cargo_numbers (number, slug, created_at_ms)
    SELECT coalesce(max(number), 0) + 1, @slug, @atMs FROM cargo_numbers WHERE true ON CONFLICT (slug) DO NOTHING`;
  await tx.run(sql, { slug, atMs });
}

async function revision(tx: Tx): Promise<number> {
  return (await tx.only<{ revision: number }>(REVISION)).revision;
}

/** Locks the catalog until the transaction ends, so that writes to it run one after another. */
async function lockCatalog(tx: Tx): Promise<void> {
  await tx.one(`${REVISION} ${forUpdate(tx)}`);
}

async function incrementRevision(tx: Tx): Promise<void> {
  await tx.run("UPDATE catalog_revision SET revision = revision + 1 WHERE id = 1");
}

/** Runs `change`, and increments the catalog revision if rows changed. Returns whether rows changed. */
async function writeCatalog(tx: Tx, change: () => Promise<number>): Promise<boolean> {
  await lockCatalog(tx);
  if ((await change()) === 0) return false;
  await incrementRevision(tx);
  return true;
}

const find = (tx: Tx, slug: string): Promise<StoredCargo | undefined> =>
  cargoTable.row<StoredCargo>(tx, `${SELECT} AND slug = @slug`, { slug });

const holderOf = (tx: Tx, slug: string) =>
  cargoTable.row(tx, `SELECT ${cargoTable.columns("ownerId", "deletedAtMs")} FROM cargos WHERE slug = @slug`, { slug });

const slugTaken = (slug: string): ServiceError =>
  new ServiceError("slug_taken", `Slug "${slug}" is or was in use by another Cargo; choose another slug`);

/** Stores a Cargo as a new row, or in the row of a deleted Cargo with its slug. The caller has checked the owner. */
async function put(
  tx: Tx,
  cargo: Omit<StoredCargo, "revision" | "createdAtMs" | "updatedAtMs">,
  atMs: number,
): Promise<StoredCargo> {
  const row = { ...cargo, revision: 1, createdAtMs: atMs, updatedAtMs: atMs };
  const reuse = `ON CONFLICT (slug) DO UPDATE SET file = excluded.file, enabled = excluded.enabled,
    approved = excluded.approved, revision = cargos.revision + 1, updated_at_ms = excluded.updated_at_ms, deleted_at_ms = NULL`;
  await cargoTable.insert(tx, row, reuse);
  const stored = await find(tx, cargo.slug);
  if (stored === undefined) throw new Error(`Cargo ${cargo.slug} is missing after its write`);
  await numberCargo(tx, stored.slug, stored.createdAtMs);
  await incrementRevision(tx);
  return stored;
}

/** Every write that changes the catalog increments its revision: other processes cache snapshots. */
export const catalogSteps = {
  numbers: read(numbers),

  /** Assigns the next free number and the date `atMs` to each new slug. Returns the numbers of all slugs. */
  numberCargos: write(async (tx, slugs: readonly string[], atMs: number) => {
    await lockCatalog(tx);
    // oxlint-disable-next-line no-await-in-loop -- New slugs occur only at the first start and after an update.
    for (const slug of slugs) await numberCargo(tx, slug, atMs);
    return numbers(tx);
  }),

  /** Reads the catalog revision from one row: callers poll it every second. */
  revision: read(revision),

  snapshot: read(async (tx): Promise<CatalogSnapshot> => {
    const cargos = `${SELECT} ORDER BY slug`;
    const disabled = "SELECT slug FROM disabled_cargos ORDER BY slug";
    const approvals = `SELECT ${cargoApprovalTable.all} FROM cargo_approvals ORDER BY slug`;
    const prices = `SELECT ${cargoPriceTable.all} FROM cargo_prices`;
    for (;;) {
      const before = await revision(tx);
      const snapshot = {
        revision: before,
        cargos: await cargoTable.rows<StoredCargo>(tx, cargos),
        disabledSlugs: await selectColumn(tx, "slug", disabled, {}),
        approvals: await cargoApprovalTable.rows(tx, approvals),
        pricesMicro: new Map((await cargoPriceTable.rows(tx, prices)).map(({ slug, micro }) => [slug, micro])),
      };
      // Equal revisions mean that no write occurred between the reads.
      if ((await revision(tx)) === before) return snapshot;
    }
  }),

  find: read(find),

  /** Returns a page of an account's Cargos, sorted by slug. `total` counts all pages. */
  listOwned: read(async (tx, ownerId: string, page: Page) => {
    assertPage(page);
    const sql = `${SELECT} AND owner_id = @ownerId ORDER BY slug LIMIT @limit OFFSET @offset`;
    const cargos = await cargoTable.rows<StoredCargo>(tx, sql, { ownerId, ...page });
    return { cargos, total: await countRows(tx, OWNED, { ownerId }) };
  }),

  /**
   * Stores a Cargo that is not yet approved. An owner may reuse the slug of a deleted Cargo.
   * @throws {ServiceError} `slug_taken` if another owner has or had the slug; `too_many_cargos` beyond
   *   {@link MAX_OWNED_CARGOS} or {@link MAX_HELD_SLUGS}.
   */
  create: write(
    async (
      tx,
      cargo: Pick<StoredCargo, "slug" | "file" | "isEnabled"> & { readonly ownerId: string; readonly atMs: number },
    ) => {
      const { atMs, ...row } = cargo;
      const { slug, ownerId } = row;
      await lockCatalog(tx);
      const holder = await holderOf(tx, slug);
      const isOwn = holder?.ownerId === ownerId && holder.deletedAtMs !== null;
      if (holder !== undefined && !isOwn) throw slugTaken(slug);
      if ((await countRows(tx, OWNED, { ownerId })) >= MAX_OWNED_CARGOS) {
        const text = `An account may have at most ${MAX_OWNED_CARGOS} Cargos at a time; delete one first`;
        throw new ServiceError("too_many_cargos", text);
      }
      if (holder === undefined && (await countRows(tx, ALL_SLUGS, { ownerId })) >= MAX_HELD_SLUGS) {
        const text = `An account may use at most ${MAX_HELD_SLUGS} slugs, including deleted ones; reuse one of them`;
        throw new ServiceError("too_many_cargos", text);
      }
      return put(tx, { ...row, isApproved: false }, atMs);
    },
  ),

  /** Replaces the file and flags of a Cargo. Returns false unless `revision` is its current one. */
  update: write((tx, change: Omit<StoredCargo, "createdAtMs" | "updatedAtMs"> & { readonly atMs: number }) =>
    writeCatalog(tx, () => {
      const sql = `UPDATE cargos SET file = @file, enabled = @isEnabled, approved = @isApproved, updated_at_ms = @atMs,
        revision = revision + 1 WHERE slug = @slug AND owner_id = @ownerId AND revision = @revision AND deleted_at_ms IS NULL`;
      return cargoTable.run(tx, sql, change);
    }),
  ),

  /** Deletes the Cargo but keeps slug, owner and number. Returns false if the account has no such Cargo. */
  remove: write((tx, slug: string, ownerId: string, atMs: number) =>
    writeCatalog(tx, () => {
      const sql = `UPDATE cargos SET deleted_at_ms = @atMs, file = '', enabled = false, approved = false,
        revision = revision + 1 WHERE slug = @slug AND owner_id = @ownerId AND deleted_at_ms IS NULL`;
      return tx.run(sql, { slug, ownerId, atMs });
    }),
  ),

  /** Stores an approved Cargo of the operator. @throws {ServiceError} `slug_taken` if an account has the slug. */
  importCargo: write(async (tx, cargo: Pick<StoredCargo, "slug" | "file"> & { readonly atMs: number }) => {
    const { slug, file, atMs } = cargo;
    await lockCatalog(tx);
    const holder = await holderOf(tx, slug);
    if (holder !== undefined && holder.ownerId !== null) throw slugTaken(slug);
    return put(tx, { slug, ownerId: null, file, isEnabled: true, isApproved: true }, atMs);
  }),

  /**
   * Records an approval and enables the Cargo. A stored Cargo gets the approved definition; returns false and changes
   * nothing unless `storedRevision` is current.
   */
  approve: write((tx, approval: CargoApproval, storedRevision: number | null) =>
    writeCatalog(tx, async () => {
      const { slug } = approval;
      if (storedRevision !== null) {
        const sql = `UPDATE cargos SET approved = true, file = @file, updated_at_ms = @atMs, revision = revision + 1
          WHERE slug = @slug AND revision = @storedRevision AND deleted_at_ms IS NULL`;
        if ((await cargoTable.run(tx, sql, { ...approval, storedRevision })) === 0) return 0;
      }
      await tx.run("DELETE FROM disabled_cargos WHERE slug = @slug", { slug });
      const replace = `ON CONFLICT (slug) DO UPDATE SET file = excluded.file, revision = excluded.revision,
        approved_by = excluded.approved_by, approved_at_ms = excluded.approved_at_ms`;
      return cargoApprovalTable.insert(tx, approval, replace);
    }),
  ),

  /** Disables or enables a Cargo, even a shipped Cargo, for all accounts. Returns false if nothing changes. */
  setDisabled: write((tx, slug: string, isDisabled: boolean, atMs: number) =>
    writeCatalog(tx, () =>
      isDisabled
        ? disabledCargoTable.insert(tx, { slug, atMs }, "ON CONFLICT (slug) DO NOTHING")
        : tx.run("DELETE FROM disabled_cargos WHERE slug = @slug", { slug }),
    ),
  ),

  /** Sets the price of a shipped Cargo; null restores the price of its file. Returns false if nothing changes. */
  setPrice: write((tx, slug: string, micro: number | null, atMs: number) =>
    writeCatalog(tx, () => {
      if (micro === null) return tx.run("DELETE FROM cargo_prices WHERE slug = @slug", { slug });
      const change = `ON CONFLICT (slug) DO UPDATE SET micro = excluded.micro, at_ms = excluded.at_ms
        WHERE cargo_prices.micro <> excluded.micro`;
      return cargoPriceTable.insert(tx, { slug, micro, atMs }, change);
    }),
  ),
};
