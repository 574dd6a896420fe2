import { WaitingLine } from "./waiting-line.ts";

/** Lets so many work at once; more wait for their turn, first come first served. */
export class Slots<T> {
  readonly #count: number;
  readonly #line = new WaitingLine<T>();
  #busy = 0;

  /** @param count at least 1. */
  constructor(count: number) {
    this.#count = count;
  }

  /** Takes a slot, to be given back by `free`, if one is free and nobody waits for it. */
  tryTake(): boolean {
    if (this.#busy >= this.#count) return false;
    this.#busy += 1;
    return true;
  }

  /** Resolves when `who` has a slot, to be given back by `free`. Rejects with `signal.reason` when aborted first. */
  async take(who: T, signal: AbortSignal): Promise<void> {
    if (!this.tryTake()) await this.#line.wait(who, signal);
  }

  /** Whoever waits first takes the slot over. */
  free(): void {
    if (!this.#line.admitFirst()) this.#busy -= 1;
  }
}
