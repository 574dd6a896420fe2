import {
  MAX_HELD_SLUGS,
  MAX_OWNED_CARGOS,
  type CargoApproval,
  type CatalogSnapshot,
  type CatalogStore,
  type NumberedCargo,
  type StoredCargo,
} from "../../catalog-store.ts";
import { assertPage, type Page } from "../../page.ts";
import { REFUSALS } from "../../refusals.ts";
import type { Session } from "../engine/connection.ts";
import type { Transactions } from "../engine/database.ts";

type CargoRow = Omit<StoredCargo, "file"> & { readonly file: string };
type Put = Pick<StoredCargo, "revision" | "createdAtMs">;

const SELECT = `SELECT slug, owner_id AS "ownerId", file, enabled AS "isEnabled", approved AS "isApproved", revision,
  created_at_ms AS "createdAtMs", updated_at_ms AS "updatedAtMs" FROM cargos WHERE deleted_at_ms IS NULL`;
const NUMBERS = `SELECT slug, number, created_at_ms AS "createdAtMs" FROM cargo_numbers ORDER BY number`;
const COUNT_OWNED = "SELECT count(*) FROM cargos WHERE owner_id = $1 AND deleted_at_ms IS NULL";

export class PostgresCatalogStore implements CatalogStore {
  readonly #db: Transactions;

  constructor(db: Transactions) {
    this.#db = db;
  }

  async numberCargos(slugs: readonly string[], atMs: number): Promise<ReadonlyMap<string, NumberedCargo>> {
    const known = await this.#db.use((session) => numbersOf(session));
    // Nothing to write at most starts: a coordinator serves, read-only, when storage cannot be written.
    if (slugs.every((slug) => known.has(slug))) return known;
    return this.#db.transact(async (session) => {
      await lockCatalog(session);
      for (const slug of slugs) {
        // oxlint-disable-next-line no-await-in-loop -- At the first start alone.
        await numberCargo(session, slug, atMs);
      }
      return numbersOf(session);
    });
  }

  async revision(): Promise<number> {
    return (await this.#db.use((session) => session.one<{ revision: number }>(REVISION)))?.revision ?? 0;
  }

  snapshot(): Promise<CatalogSnapshot> {
    return this.#db.transact(async (session) => {
      const cargos = await session.all<CargoRow>(`${SELECT} ORDER BY slug`);
      const disabled = await session.all<{ slug: string }>("SELECT slug FROM disabled_cargos ORDER BY slug");
      const approvals = await session.all<CargoApproval & { readonly file: string }>(
        `SELECT slug, file, revision, approved_by AS "by", approved_at_ms AS "atMs" FROM cargo_approvals ORDER BY slug`,
      );
      const prices = await session.all<{ slug: string; micro: number }>("SELECT slug, micro FROM cargo_prices");
      return {
        revision: (await session.one<{ revision: number }>(REVISION))?.revision ?? 0,
        cargos: cargos.map(cargoOf),
        disabledSlugs: disabled.map(({ slug }) => slug),
        approvals: approvals.map((row) => ({ ...row, file: JSON.parse(row.file) as unknown })),
        pricesMicro: new Map(prices.map(({ slug, micro }) => [slug, micro])),
      };
    }, "REPEATABLE READ");
  }

  find(slug: string): Promise<StoredCargo | undefined> {
    return this.#db.use(async (session) => {
      const row = await session.one<CargoRow>(`${SELECT} AND slug = $1`, [slug]);
      return row && cargoOf(row);
    });
  }

  async listOwned(ownerId: string, page: Page): Promise<{ cargos: StoredCargo[]; total: number }> {
    assertPage(page);
    return this.#db.use(async (session) => {
      const rows = await session.all<CargoRow>(`${SELECT} AND owner_id = $1 ORDER BY slug LIMIT $2 OFFSET $3`, [
        ownerId,
        page.limit,
        page.offset,
      ]);
      return { cargos: rows.map(cargoOf), total: await count(session, COUNT_OWNED, ownerId) };
    });
  }

  create({ slug, ownerId, file, isEnabled, atMs }: Parameters<CatalogStore["create"]>[0]): Promise<StoredCargo> {
    return this.#db.transact(async (session) => {
      await lockCatalog(session);
      const holder = await holderOf(session, slug);
      const isOwn = holder?.ownerId === ownerId && holder.isDeleted;
      if (holder !== undefined && !isOwn) throw REFUSALS.slug_taken(slug);
      if ((await count(session, COUNT_OWNED, ownerId)) >= MAX_OWNED_CARGOS) throw REFUSALS.too_many_cargos();
      const held = await count(session, "SELECT count(*) FROM cargos WHERE owner_id = $1", ownerId);
      if (holder === undefined && held >= MAX_HELD_SLUGS) throw REFUSALS.too_many_slugs();
      const put = await putCargo(session, { slug, ownerId, file, isEnabled, isApproved: false, atMs });
      return { slug, ownerId, file, isEnabled, isApproved: false, updatedAtMs: atMs, ...put };
    });
  }

  update(change: Parameters<CatalogStore["update"]>[0]): Promise<boolean> {
    const { slug, ownerId, revision, file, isEnabled, isApproved, atMs } = change;
    return this.#raising((session) =>
      session.run(
        `UPDATE cargos SET file = $1, enabled = $2, approved = $3, updated_at_ms = $4, revision = revision + 1
         WHERE slug = $5 AND owner_id = $6 AND revision = $7 AND deleted_at_ms IS NULL`,
        [JSON.stringify(file), isEnabled, isApproved, atMs, slug, ownerId, revision],
      ),
    );
  }

  remove(slug: string, ownerId: string, atMs: number): Promise<boolean> {
    return this.#raising((session) =>
      session.run(
        `UPDATE cargos SET deleted_at_ms = $1, file = '', enabled = false, approved = false, revision = revision + 1
         WHERE slug = $2 AND owner_id = $3 AND deleted_at_ms IS NULL`,
        [atMs, slug, ownerId],
      ),
    );
  }

  importCargo({ slug, file, atMs }: Parameters<CatalogStore["importCargo"]>[0]): Promise<StoredCargo> {
    return this.#db.transact(async (session) => {
      await lockCatalog(session);
      const holder = await holderOf(session, slug);
      if (holder !== undefined && holder.ownerId !== null) throw REFUSALS.slug_taken(slug);
      const put = await putCargo(session, { slug, ownerId: null, file, isEnabled: true, isApproved: true, atMs });
      return { slug, ownerId: null, file, isEnabled: true, isApproved: true, updatedAtMs: atMs, ...put };
    });
  }

  approve({ slug, file, revision, by, atMs }: CargoApproval, storedRevision: number | null): Promise<boolean> {
    const text = JSON.stringify(file);
    return this.#raising(async (session) => {
      if (storedRevision !== null) {
        const approved = await session.run(
          `UPDATE cargos SET approved = true, file = $1, updated_at_ms = $2, revision = revision + 1
           WHERE slug = $3 AND revision = $4 AND deleted_at_ms IS NULL`,
          [text, atMs, slug, storedRevision],
        );
        if (approved === 0) return 0;
      }
      await session.run("DELETE FROM disabled_cargos WHERE slug = $1", [slug]);
      return session.run(
        `INSERT INTO cargo_approvals (slug, file, revision, approved_by, approved_at_ms) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (slug) DO UPDATE SET file = excluded.file, revision = excluded.revision,
           approved_by = excluded.approved_by, approved_at_ms = excluded.approved_at_ms`,
        [slug, text, revision, by, atMs],
      );
    });
  }

  setDisabled(slug: string, isDisabled: boolean, atMs: number): Promise<boolean> {
    return this.#raising((session) =>
      isDisabled
        ? session.run("INSERT INTO disabled_cargos (slug, at_ms) VALUES ($1, $2) ON CONFLICT (slug) DO NOTHING", [
            slug,
            atMs,
          ])
        : session.run("DELETE FROM disabled_cargos WHERE slug = $1", [slug]),
    );
  }

  setPrice(slug: string, micro: number | null, atMs: number): Promise<boolean> {
    return this.#raising((session) =>
      micro === null
        ? session.run("DELETE FROM cargo_prices WHERE slug = $1", [slug])
        : session.run(
            `INSERT INTO cargo_prices (slug, micro, at_ms) VALUES ($1, $2, $3)
             ON CONFLICT (slug) DO UPDATE SET micro = excluded.micro, at_ms = excluded.at_ms
             WHERE cargo_prices.micro <> excluded.micro`,
            [slug, micro, atMs],
          ),
    );
  }

  /** A write that raises the revision if it changed something. */
  #raising(write: (session: Session) => Promise<number>): Promise<boolean> {
    return this.#db.transact(async (session) => {
      await lockCatalog(session);
      if ((await write(session)) === 0) return false;
      await raise(session);
      return true;
    });
  }
}

const REVISION = "SELECT revision FROM catalog_revision WHERE id = 1";

/** Writes to the catalog are rare, and take turns. */
async function lockCatalog(session: Session): Promise<void> {
  await session.run(`${REVISION} FOR UPDATE`);
}

async function raise(session: Session): Promise<void> {
  await session.run("UPDATE catalog_revision SET revision = revision + 1 WHERE id = 1");
}

async function numbersOf(session: Session): Promise<ReadonlyMap<string, NumberedCargo>> {
  const rows = await session.all<NumberedCargo & { readonly slug: string }>(NUMBERS);
  return new Map(rows.map(({ slug, ...numbered }) => [slug, numbered]));
}

async function numberCargo(session: Session, slug: string, atMs: number): Promise<void> {
  await session.run(
    `INSERT INTO cargo_numbers (number, slug, created_at_ms) SELECT coalesce(max(number), 0) + 1, $1, $2 FROM cargo_numbers
     ON CONFLICT (slug) DO NOTHING`,
    [slug, atMs],
  );
}

function holderOf(session: Session, slug: string) {
  return session.one<{ ownerId: string | null; isDeleted: boolean }>(
    `SELECT owner_id AS "ownerId", deleted_at_ms IS NOT NULL AS "isDeleted" FROM cargos WHERE slug = $1`,
    [slug],
  );
}

async function count(session: Session, sql: string, ownerId: string): Promise<number> {
  return (await session.one<{ count: number }>(sql, [ownerId]))?.count ?? 0;
}

/** Also reuses the row of a slug; the caller has checked its owner. */
async function putCargo(
  session: Session,
  cargo: Pick<StoredCargo, "slug" | "ownerId" | "file" | "isEnabled" | "isApproved"> & { readonly atMs: number },
): Promise<Put> {
  const { slug, ownerId, file, isEnabled, isApproved, atMs } = cargo;
  const put = await session.one<Put>(
    `INSERT INTO cargos (slug, owner_id, file, enabled, approved, revision, created_at_ms, updated_at_ms)
     VALUES ($1, $2, $3, $4, $5, 1, $6, $6)
     ON CONFLICT (slug) DO UPDATE SET file = excluded.file, enabled = excluded.enabled, approved = excluded.approved,
       revision = cargos.revision + 1, updated_at_ms = excluded.updated_at_ms, deleted_at_ms = NULL
     RETURNING revision, created_at_ms AS "createdAtMs"`,
    [slug, ownerId, JSON.stringify(file), isEnabled, isApproved, atMs],
  );
  if (put === undefined) throw new Error(`Cargo ${slug} was not stored`);
  await numberCargo(session, slug, put.createdAtMs);
  await raise(session);
  return put;
}

function cargoOf(row: CargoRow): StoredCargo {
  return { ...row, file: JSON.parse(row.file) as unknown };
}
