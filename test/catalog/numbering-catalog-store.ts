import type { CatalogStore } from "../../coordinator/store/catalog-store.ts";

/** Numbers slugs from 1 in the order in which it first sees them. */
export class NumberingCatalogStore implements CatalogStore {
  readonly #numbers = new Map<string, number>();

  async numberCargos(slugs: readonly string[]): Promise<ReadonlyMap<string, number>> {
    for (const slug of slugs) {
      if (!this.#numbers.has(slug)) this.#numbers.set(slug, this.#numbers.size + 1);
    }
    return new Map(this.#numbers);
  }
}
