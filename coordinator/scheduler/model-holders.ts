/** How many online Islands have each model or image on disk, by cache key. A change costs O(models of that Island). */
export class ModelHolders {
  readonly #counts = new Map<string, number>();

  /** An Island that had the models `before` has `after` now. Repeats within a list count once. */
  replace(before: readonly string[], after: readonly string[]): void {
    // Nearly every heartbeat repeats the last one.
    if (before.length === after.length && before.every((key, index) => key === after[index])) return;
    for (const key of new Set(after)) this.#counts.set(key, this.count(key) + 1);
    for (const key of new Set(before)) {
      const rest = this.count(key) - 1;
      if (rest === 0) this.#counts.delete(key);
      else this.#counts.set(key, rest);
    }
  }

  count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Number of keys that some Island has. */
  get size(): number {
    return this.#counts.size;
  }
}
