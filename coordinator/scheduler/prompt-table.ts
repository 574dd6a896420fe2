/** Number of starts by which a prompt is found. */
const STARTS = 3;
/** A row has a hash for each start, then the older and then the newer row with the same start. */
const OLDER = STARTS;
const NEWER = 2 * STARTS;
const ROW_LENGTH = 3 * STARTS;
const NONE = -1;
/** The older row of a start by which the row is not found. */
const UNLISTED = -2;
const FIRST_LENGTH = 64 * ROW_LENGTH;

/**
 * Finds prompts by the hashes of their starts. One array has the numbers of all prompts: reading them from objects and
 * lists would miss the processor's caches.
 */
export class PromptTable {
  readonly #maxSharing: number;
  #numbers = new Int32Array(FIRST_LENGTH);
  readonly #islandIds: string[] = [];
  readonly #slugs: string[] = [];
  readonly #freeRows: number[] = [];
  /** The latest row with each start, by hash. */
  readonly #latest = new Map<number, number>();

  /** @param maxSharing Maximum number of prompts that are found by one start: the latest ones. */
  constructor(maxSharing: number) {
    this.#maxSharing = maxSharing;
  }

  /**
   * Adds a prompt of an Island and returns its row.
   * @param hashes 32-bit integers of all starts, first that of the whole prompt. Equal ones count once.
   */
  add(islandId: string, slug: string, hashes: readonly [number, number, number]): number {
    const row = this.#freeRows.pop() ?? this.#islandIds.length;
    this.#islandIds[row] = islandId;
    this.#slugs[row] = slug;
    if ((row + 1) * ROW_LENGTH > this.#numbers.length) {
      const longer = new Int32Array(2 * this.#numbers.length);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    for (const [nth, hash] of hashes.entries()) {
      const at = row * ROW_LENGTH + nth;
      this.#numbers[at] = hash;
      if (this.#find(row, hash) === at) this.#list(row, at, hash);
      else this.#numbers[at + OLDER] = UNLISTED;
    }
    return row;
  }

  remove(row: number): void {
    for (let nth = 0; nth < STARTS; nth += 1) this.#unlist(row * ROW_LENGTH + nth);
    this.#freeRows.push(row);
  }

  /** Returns the hash of the whole prompt. */
  hashOf(row: number): number {
    return this.#read(row * ROW_LENGTH);
  }

  islandOf(row: number): string {
    return this.#islandIds[row] ?? "";
  }

  slugOf(row: number): string {
    return this.#slugs[row] ?? "";
  }

  /** Returns the rows with a start, the latest first. */
  rowsWith(hash: number): number[] {
    const rows: number[] = [];
    for (let row = this.#latest.get(hash) ?? NONE; row !== NONE; row = this.#read(this.#find(row, hash) + OLDER)) {
      rows.push(row);
    }
    return rows;
  }

  #list(row: number, at: number, hash: number): void {
    const sharing = this.rowsWith(hash);
    const [older = NONE] = sharing;
    this.#numbers[at + OLDER] = older;
    this.#numbers[at + NEWER] = NONE;
    if (older !== NONE) this.#numbers[this.#find(older, hash) + NEWER] = row;
    this.#latest.set(hash, row);
    const oldest = sharing[this.#maxSharing - 1];
    if (oldest !== undefined) this.#unlist(this.#find(oldest, hash));
  }

  #unlist(at: number): void {
    const hash = this.#read(at);
    const older = this.#read(at + OLDER);
    const newer = this.#read(at + NEWER);
    if (older === UNLISTED) return;
    if (older !== NONE) this.#numbers[this.#find(older, hash) + NEWER] = newer;
    if (newer !== NONE) this.#numbers[this.#find(newer, hash) + OLDER] = older;
    else if (older === NONE) this.#latest.delete(hash);
    else this.#latest.set(hash, older);
    this.#numbers[at + OLDER] = UNLISTED;
  }

  /** Returns where a row has a hash. */
  #find(row: number, hash: number): number {
    let at = row * ROW_LENGTH;
    while (this.#read(at) !== hash) at += 1;
    return at;
  }

  #read(at: number): number {
    return this.#numbers[at] ?? NONE;
  }
}
