/** A time in which an Island had a free slot. */
interface FreeTime {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Of Islands that run the same Cargos: which have a free slot, since when, and which had one for long. */
export class FreeTimes {
  readonly #slots = new Map<number, number>();
  /** By Island, since when it has a free slot: the longest first. */
  readonly #sinceMs = new Map<number, number>();
  /** Times that are over, by their end. One that a later one is longer than is left out, so that each is shorter than the one before. */
  readonly #over: FreeTime[] = [];

  /** @param by More or fewer free slots of the Island. @throws when it has fewer than none. */
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

  /** For how long, of the time from `fromMs` to now, one and the same Island had a free slot: the most of all. */
  longestSince(fromMs: number, nowMs: number): number {
    const [oldestMs] = this.#sinceMs.values();
    const open = oldestMs === undefined ? 0 : nowMs - Math.max(oldestMs, fromMs);
    // What began before counts from then on, so of these the last is the longest, and of the others the first.
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

/** @param isFound False up to some place of the list, and true from there on. */
function firstIndex<T>(list: readonly T[], isFound: (item: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isFound(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
