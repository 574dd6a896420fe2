/** A period in which an Island had a free slot. */
interface FreeTime {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Tracks the periods in which Islands that run the same Cargos have free slots. */
export class FreeTimes {
  readonly #slots = new Map<number, number>();
  /** Start of the current free period by Island, the longest period first. */
  readonly #sinceMs = new Map<number, number>();
  /**
   * Past periods by their end. A period that is shorter than a later period is dropped, so that each period is shorter
   * than the one before it.
   */
  readonly #over: FreeTime[] = [];

  /**
   * Changes the number of free slots.
   * @param by the change, which may be negative.
   * @throws if the number becomes negative.
   */
  change(island: number, by: number, nowMs: number): void {
    const before = this.#slots.get(island) ?? 0;
    const after = before + by;
    if (after < 0) throw new Error(`Island ${island} has ${after} free slots`);
    this.#slots.set(island, after);
    if (before === 0 && after > 0) this.#sinceMs.set(island, nowMs);
    if (before === 0 || after > 0) return;
    this.#end({ fromMs: this.#sinceMs.get(island) ?? nowMs, toMs: nowMs });
    this.#sinceMs.delete(island);
  }

  /** Returns the longest time since `fromMs` in which one Island had a free slot throughout. */
  longestSince(fromMs: number, nowMs: number): number {
    const [oldestMs] = this.#sinceMs.values();
    const open = oldestMs === undefined ? 0 : nowMs - Math.max(oldestMs, fromMs);
    // Periods that began before `fromMs` count from `fromMs` on, so the last of these periods is the longest. Among all
    // other periods, the first is the longest.
    const index = firstIndex(this.#over, (time) => time.fromMs >= fromMs);
    const [before, after] = [this.#over[index - 1], this.#over[index]];
    const clipped = before === undefined ? 0 : before.toMs - fromMs;
    return Math.max(0, open, clipped, after === undefined ? 0 : after.toMs - after.fromMs);
  }

  #end(time: FreeTime): void {
    const lengthMs = time.toMs - time.fromMs;
    if (lengthMs === 0) return;
    for (let last = this.#over.at(-1); last !== undefined; last = this.#over.at(-1)) {
      if (last.toMs - last.fromMs > lengthMs) break;
      this.#over.pop();
    }
    this.#over.push(time);
  }
}

/**
 * Returns the first index for which `isFound` is true, by binary search.
 * @param isFound returns false up to some index, and true from then on.
 */
function firstIndex<T>(list: readonly T[], isFound: (item: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isFound(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
