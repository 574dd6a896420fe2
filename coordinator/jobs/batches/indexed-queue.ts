/** A FIFO queue of ids that finds the position of each in O(log n). */
export class IndexedQueue {
  readonly #entries: { readonly ticket: number; readonly id: string }[] = [];
  readonly #tickets = new Map<string, number>();
  #nextTicket = 0;

  get size(): number {
    return this.#entries.length;
  }

  get first(): string | undefined {
    return this.#entries[0]?.id;
  }

  firstOf(count: number): string[] {
    return this.#entries.slice(0, count).map(({ id }) => id);
  }

  push(id: string): void {
    this.#tickets.set(id, this.#nextTicket);
    this.#entries.push({ ticket: this.#nextTicket, id });
    this.#nextTicket += 1;
  }

  /** Removes the id. Returns false if it is not in the queue. */
  remove(id: string): boolean {
    const position = this.positionOf(id);
    if (position === null) return false;
    this.#entries.splice(position - 1, 1);
    this.#tickets.delete(id);
    return true;
  }

  /** Returns the 1-based position; null for an id that is not in the queue. */
  positionOf(id: string): number | null {
    const wanted = this.#tickets.get(id);
    if (wanted === undefined) return null;
    let [low, high] = [0, this.#entries.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.ticket ?? wanted) < wanted) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }
}
