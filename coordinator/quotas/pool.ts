/** A holder of an amount, such as an account or an Island. Without an id, the key is the total. */
export type PoolKey<Kind extends string> = readonly [kind: Kind, id?: string];

/** Counts the amount that each key holds, and enforces the limit of its kind. */
export class Pool<Kind extends string> {
  readonly #limits: Readonly<Record<Kind, number>>;
  readonly #fairKind: Kind | null;
  readonly #counts = new Map<Kind, Map<string, number>>();

  /** @param fairKind when the total reaches its limit, keys of this kind may still take up to an equal share of it. */
  constructor(limits: Readonly<Record<Kind, number>>, fairKind: Kind | null = null) {
    this.#limits = limits;
    this.#fairKind = fairKind;
  }

  /**
   * Takes the amount for every key, or for none of them.
   * @returns a function that releases the amount and may be called twice, or the kind of the first key without capacity
   */
  take(keys: readonly PoolKey<Kind>[], amount = 1, limits = this.#limits): (() => void) | Kind {
    const full = this.fullFor(keys, amount, limits);
    if (full !== null) return full;
    this.add(keys, amount);
    let isTaken = true;
    return () => {
      if (isTaken) this.add(keys, -amount);
      isTaken = false;
    };
  }

  /** Returns the kind of the first key without capacity for the amount; null if all keys have capacity. */
  fullFor(keys: readonly PoolKey<Kind>[], amount: number, limits = this.#limits): Kind | null {
    if (amount === 0) return null;
    for (const key of keys) {
      const kind = key[0];
      if (this.count(kind, key[1]) + amount <= limits[kind]) continue;
      if (key[1] !== undefined || !this.#isWithinShare(keys, amount, limits[kind])) return kind;
    }
    return null;
  }

  /** Adds the amount regardless of limits; a negative amount releases. @throws if a key releases more than it holds. */
  add(keys: readonly PoolKey<Kind>[], amount: number): void {
    // This runs for each token, and destructuring would allocate an iterator for each key.
    for (const key of keys) {
      const kind = key[0];
      const id = key[1] ?? "";
      let counts = this.#counts.get(kind);
      if (counts === undefined) this.#counts.set(kind, (counts = new Map()));
      const count = (counts.get(id) ?? 0) + amount;
      if (count < 0) throw new Error(`${kind} ${id} releases ${-amount} and holds only ${count - amount}`);
      if (count === 0) counts.delete(id);
      else counts.set(id, count);
    }
  }

  count(kind: Kind, id = ""): number {
    return this.#counts.get(kind)?.get(id) ?? 0;
  }

  idsOf(kind: Kind): Iterable<string> {
    return this.#counts.get(kind)?.keys() ?? [];
  }

  #isWithinShare(keys: readonly PoolKey<Kind>[], amount: number, limit: number): boolean {
    const fair = keys.find(([kind]) => kind === this.#fairKind);
    if (fair === undefined) return false;
    const count = this.count(...fair);
    const sharing = (this.#counts.get(fair[0])?.size ?? 0) + (count === 0 ? 1 : 0);
    return count + amount <= limit / sharing;
  }
}
