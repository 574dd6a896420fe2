import type { CatalogSnapshot, CatalogStore, NumberedCargo } from "../../../coordinator/store/catalog-store.ts";

/** Numbers slugs from 1 in the order in which it first sees them. What it has stored is what a test says. */
export class NumberingCatalogStore implements Pick<CatalogStore, "numberCargos" | "revision" | "snapshot"> {
  stored: CatalogSnapshot = { revision: 0, cargos: [], disabledSlugs: [], approvals: [], pricesMicro: new Map() };
  snapshots = 0;
  readonly #numbers = new Map<string, NumberedCargo>();

  async numberCargos(slugs: readonly string[], atMs: number): Promise<ReadonlyMap<string, NumberedCargo>> {
    for (const slug of slugs) {
      if (!this.#numbers.has(slug)) this.#numbers.set(slug, { number: this.#numbers.size + 1, createdAtMs: atMs });
    }
    return new Map(this.#numbers);
  }

  async revision(): Promise<number> {
    return this.stored.revision;
  }

  async snapshot(): Promise<CatalogSnapshot> {
    this.snapshots += 1;
    return this.stored;
  }
}
