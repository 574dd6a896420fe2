import type { CatalogSnapshot, NumberedCargo } from "../../../coordinator/store/catalog.ts";
import type { Store } from "../../../coordinator/store/store.ts";

/** Numbers slugs from 1 in the order in which they first appear. The test sets what the store contains. */
export class NumberingCatalogStore implements Pick<
  Store["catalog"],
  "numberCargos" | "numbers" | "revision" | "snapshot"
> {
  stored: CatalogSnapshot = { revision: 0, cargos: [], disabledSlugs: [], approvals: [], pricesMicro: new Map() };
  snapshots = 0;
  readonly #numbers = new Map<string, NumberedCargo>();

  async numberCargos(slugs: readonly string[], atMs: number): Promise<ReadonlyMap<string, NumberedCargo>> {
    for (const slug of slugs) {
      if (!this.#numbers.has(slug)) this.#numbers.set(slug, { number: this.#numbers.size + 1, createdAtMs: atMs });
    }
    return new Map(this.#numbers);
  }

  async numbers(): Promise<ReadonlyMap<string, NumberedCargo>> {
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
