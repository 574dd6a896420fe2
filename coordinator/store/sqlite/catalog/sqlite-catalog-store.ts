import type Database from "better-sqlite3";
import type { CargoApproval, CatalogSnapshot, CatalogStore, NumberedCargo, StoredCargo } from "../../catalog-store.ts";
import { COUNT_OWNED, SELECT_NUMBERS, type NumberRow } from "./catalog-operations.ts";
import { assertPage, type Page } from "../../page.ts";
import type { Writer } from "../engine/writer.ts";

type CargoRow = Omit<StoredCargo, "file" | "isEnabled" | "isApproved"> & {
  readonly file: string;
  readonly enabled: 0 | 1;
  readonly approved: 0 | 1;
};

const SELECT = `SELECT slug, owner_id AS ownerId, file, enabled, approved, revision, created_at_ms AS createdAtMs,
  updated_at_ms AS updatedAtMs FROM cargos WHERE deleted_at_ms IS NULL`;

export class SqliteCatalogStore implements CatalogStore {
  readonly #db: Database.Database;
  readonly #writer: Pick<Writer, "run">;
  readonly #selectRevision: Database.Statement<[], number>;
  readonly #selectNumbers: Database.Statement<[], NumberRow>;
  readonly #selectAll: Database.Statement<[], CargoRow>;
  readonly #selectOne: Database.Statement<[string], CargoRow>;
  readonly #selectOwned: Database.Statement<[string, number, number], CargoRow>;
  readonly #countOwned: Database.Statement<[string], number>;
  readonly #selectDisabled: Database.Statement<[], string>;
  readonly #selectPrices: Database.Statement<[], [slug: string, micro: number]>;
  readonly #selectApprovals: Database.Statement<[], CargoApproval & { readonly file: string }>;

  constructor(db: Database.Database, writer: Pick<Writer, "run">) {
    this.#db = db;
    this.#writer = writer;
    this.#selectRevision = db.prepare<[], number>("SELECT revision FROM catalog_revision WHERE id = 1").pluck();
    this.#selectNumbers = db.prepare(SELECT_NUMBERS);
    this.#selectAll = db.prepare(`${SELECT} ORDER BY slug`);
    this.#selectOne = db.prepare(`${SELECT} AND slug = ?`);
    this.#selectOwned = db.prepare(`${SELECT} AND owner_id = ? ORDER BY slug LIMIT ? OFFSET ?`);
    this.#countOwned = db.prepare<[string], number>(COUNT_OWNED).pluck();
    this.#selectDisabled = db.prepare<[], string>("SELECT slug FROM disabled_cargos ORDER BY slug").pluck();
    this.#selectPrices = db.prepare<[], [string, number]>("SELECT slug, micro FROM cargo_prices").raw();
    this.#selectApprovals = db.prepare(
      `SELECT slug, file, revision, approved_by AS "by", approved_at_ms AS atMs FROM cargo_approvals ORDER BY slug`,
    );
  }

  async numberCargos(slugs: readonly string[], atMs: number): Promise<ReadonlyMap<string, NumberedCargo>> {
    const known = bySlug(this.#selectNumbers.all());
    // Nothing to write at most starts: the coordinator serves, read-only, when its disk is full.
    if (slugs.every((slug) => known.has(slug))) return known;
    return bySlug(await this.#writer.run("numberCargos", { slugs, atMs }));
  }

  async revision(): Promise<number> {
    return this.#selectRevision.get() ?? 0;
  }

  async snapshot(): Promise<CatalogSnapshot> {
    // One transaction, because another process may commit between two reads.
    return this.#db.transaction(() => ({
      revision: this.#selectRevision.get() ?? 0,
      cargos: this.#selectAll.all().map(cargoOfRow),
      disabledSlugs: this.#selectDisabled.all(),
      approvals: this.#selectApprovals.all().map((row) => ({ ...row, file: JSON.parse(row.file) as unknown })),
      pricesMicro: new Map(this.#selectPrices.all()),
    }))();
  }

  async find(slug: string): Promise<StoredCargo | undefined> {
    const row = this.#selectOne.get(slug);
    return row && cargoOfRow(row);
  }

  async listOwned(ownerId: string, page: Page): Promise<{ cargos: StoredCargo[]; total: number }> {
    assertPage(page);
    const rows = this.#selectOwned.all(ownerId, page.limit, page.offset);
    return { cargos: rows.map(cargoOfRow), total: this.#countOwned.get(ownerId) ?? 0 };
  }

  async create(cargo: Parameters<CatalogStore["create"]>[0]): Promise<StoredCargo> {
    const { slug, ownerId, isEnabled, atMs } = cargo;
    const file = JSON.stringify(cargo.file);
    const stored = await this.#writer.run("createCargo", { slug, ownerId, file, enabled: isEnabled ? 1 : 0, atMs });
    return { slug, ownerId, file: cargo.file, isEnabled, isApproved: false, updatedAtMs: atMs, ...stored };
  }

  update(change: Parameters<CatalogStore["update"]>[0]): Promise<boolean> {
    const { slug, ownerId, revision, isEnabled, isApproved, atMs } = change;
    const [enabled, approved] = [isEnabled ? 1 : 0, isApproved ? 1 : 0] as const;
    const file = JSON.stringify(change.file);
    return this.#writer.run("updateCargo", { slug, ownerId, revision, file, enabled, approved, atMs });
  }

  remove(slug: string, ownerId: string, atMs: number): Promise<boolean> {
    return this.#writer.run("removeCargo", { slug, ownerId, atMs });
  }

  async importCargo({ slug, file, atMs }: Parameters<CatalogStore["importCargo"]>[0]): Promise<StoredCargo> {
    const stored = await this.#writer.run("importCargo", { slug, file: JSON.stringify(file), atMs });
    return { slug, ownerId: null, file, isEnabled: true, isApproved: true, updatedAtMs: atMs, ...stored };
  }

  approve(approval: CargoApproval, storedRevision: number | null): Promise<boolean> {
    const file = JSON.stringify(approval.file);
    return this.#writer.run("approveCargo", { approval: { ...approval, file }, storedRevision });
  }

  setDisabled(slug: string, isDisabled: boolean, atMs: number): Promise<boolean> {
    return this.#writer.run("setCargoDisabled", { slug, disabled: isDisabled, atMs });
  }

  setPrice(slug: string, micro: number | null, atMs: number): Promise<boolean> {
    return this.#writer.run("setCargoPrice", { slug, micro, atMs });
  }
}

function bySlug(rows: readonly NumberRow[]): ReadonlyMap<string, NumberedCargo> {
  return new Map(rows.map(({ slug, ...numbered }) => [slug, numbered]));
}

function cargoOfRow({ file, enabled, approved, ...rest }: CargoRow): StoredCargo {
  return { ...rest, file: JSON.parse(file) as unknown, isEnabled: enabled === 1, isApproved: approved === 1 };
}
