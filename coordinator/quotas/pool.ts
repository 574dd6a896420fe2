/** What has a part of a pool: an account, an Island. Without an id: all together. */
export type PoolKey<Kind extends string> = readonly [kind: Kind, id?: string];

/** Counts how much of something each key has, so that none has more than keys of its kind may. */
export class Pool<Kind extends string> {
  readonly #limits: Readonly<Record<Kind, number>>;
  readonly #fairKind: Kind | null;
  readonly #counts = new Map<Kind, Map<string, number>>();

  /** @param fairKind when all together have what they may, keys of this kind within their equal share of it may still take. */
  constructor(limits: Readonly<Record<Kind, number>>, fairKind: Kind | null = null) {
    this.#limits = limits;
    this.#fairKind = fairKind;
  }

  /**
   * Takes for every key, or for none.
   * @returns a function that gives it back, which may be called twice; or the kind of the first key that has no room.
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

  /** The kind of the first key that has no room for so much more; null when all have. */
  fullFor(keys: readonly PoolKey<Kind>[], amount: number, limits = this.#limits): Kind | null {
    if (amount === 0) return null;
    const full = keys.find(([kind, id]) => {
      if (this.count(kind, id) + amount <= limits[kind]) return false;
      return id !== undefined || !this.#isWithinShare(keys, amount, limits[kind]);
    });
    return full?.[0] ?? null;
  }

  /** Takes whatever the limits are; a negative amount gives back. @throws if a key gives back what it does not have. */
  add(keys: readonly PoolKey<Kind>[], amount: number): void {
    for (const [kind, id = ""] of keys) {
      let counts = this.#counts.get(kind);
      if (counts === undefined) this.#counts.set(kind, (counts = new Map()));
      const count = (counts.get(id) ?? 0) + amount;
      if (count < 0) throw new Error(`${kind} ${id} has less than it gives back`);
      if (count === 0) counts.delete(id);
      else counts.set(id, count);
    }
  }

  count(kind: Kind, id = ""): number {
    return this.#counts.get(kind)?.get(id) ?? 0;
  }

  /** Keys of this kind that have some. */
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
