/**
 * Counts what the copies of other coordinators' feeds take in memory. When they take all that they may, a copy within its equal share may
 * still grow, so that one job's output never cuts off the readers of another's.
 */
export class FollowedMemory<Copy> {
  readonly #maxBytes: number;
  readonly #bytes = new Map<Copy, number>();
  #total = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Nothing more is to be followed. */
  get isFull(): boolean {
    return this.#total > this.#maxBytes;
  }

  /** Counts growth. False if the copy has more than its share of too little memory: it must go. */
  grow(copy: Copy, bytes: number): boolean {
    const own = (this.#bytes.get(copy) ?? 0) + bytes;
    this.#bytes.set(copy, own);
    this.#total += bytes;
    return !this.isFull || own <= this.#maxBytes / this.#bytes.size;
  }

  release(copy: Copy): void {
    this.#total -= this.#bytes.get(copy) ?? 0;
    this.#bytes.delete(copy);
  }
}
