/** One page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly meta: { readonly total: number; readonly limit: number; readonly offset: number };
}

/**
 * A list that loads page by page while you iterate. Items that are added at the head of the list during the iteration
 * move other items to later pages. Items that were already returned are skipped.
 */
export class Pages<T> implements AsyncIterable<T> {
  readonly #load: (offset: number) => Promise<Page<T>>;
  readonly #idOf: (item: T) => string | number;
  readonly #firstOffset: number;

  constructor(load: (offset: number) => Promise<Page<T>>, idOf: (item: T) => string | number, firstOffset = 0) {
    this.#load = load;
    this.#idOf = idOf;
    this.#firstOffset = firstOffset;
  }

  /** Returns one page, with `meta.total`: the first, or the one that begins after `offset` items. */
  page(offset: number = this.#firstOffset): Promise<Page<T>> {
    return this.#load(offset);
  }

  /** Iterates over all pages, with one request for each. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let offset = this.#firstOffset; ;) {
      const page = await this.#load(offset);
      yield page;
      offset += page.data.length;
      if (page.data.length === 0 || offset >= page.meta.total) return;
    }
  }

  /** Iterates over all items. Each item is returned once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const seen = new Set<string | number>();
    for await (const { data } of this.pages()) {
      for (const item of data) {
        const id = this.#idOf(item);
        if (seen.has(id)) continue;
        seen.add(id);
        yield item;
      }
    }
  }
}
