/** How many online Islands hold each model or image on their disks, by cache key. A change costs what the Island holds. */
export class ModelHolders {
  readonly #counts = new Map<string, number>();

  /** Takes in that an Island, which held `before`, holds `after` now. Repeats within a list count once. */
  replace(before: readonly string[], after: readonly string[]): void {
    // Nearly every heartbeat tells what the last one told.
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

  /** Keys that anybody holds. */
  get size(): number {
    return this.#counts.size;
  }
}
