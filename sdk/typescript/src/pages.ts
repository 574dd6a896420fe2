/** One page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly meta: { readonly total: number; readonly limit: number; readonly offset: number };
}

/** Which part of a list to load. */
export interface ListPart {
  /** Items per request, 1 to 100. */
  readonly pageSize?: number | undefined;
  /** How many items to skip. */
  readonly offset?: number | undefined;
}

/**
 * A list that loads page by page while you iterate. Items added at its head meanwhile push others to later pages; iterating
 * skips items that it has already returned.
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

  /** The first page alone, with `meta.total`. */
  page(): Promise<Page<T>> {
    return this.#load(this.#firstOffset);
  }

  /** All pages, with one request for each. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let offset = this.#firstOffset; ;) {
      const page = await this.#load(offset);
      yield page;
      offset += page.data.length;
      if (page.data.length === 0 || offset >= page.meta.total) return;
    }
  }

  /** All items, each once. */
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
