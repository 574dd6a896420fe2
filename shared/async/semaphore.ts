import { WaitQueue } from "./wait-queue.ts";

/** Lets a number of callers work at once; the others wait, first come, first served. */
export class Semaphore<T> {
  #permits: number;
  readonly #queue = new WaitQueue<T>();
  #taken = 0;

  /** @param permits at least 1. */
  constructor(permits: number) {
    this.#permits = permits;
  }

  /** Takes a permit if one is free. The caller gives it back with `release`. */
  tryAcquire(): boolean {
    if (this.#taken >= this.#permits) return false;
    this.#taken += 1;
    return true;
  }

  /** Resolves when `caller` has a permit, to be given back with `release`. Rejects with `signal.reason` when aborted first. */
  async acquire(caller: T, signal: AbortSignal): Promise<void> {
    if (!this.tryAcquire()) await this.#queue.wait(caller, signal);
  }

  /** Gives a permit back; the first caller in the queue gets it. */
  release(): void {
    this.#taken -= 1;
    this.#admit();
  }

  /** @param permits at least 1. With fewer than are taken, no caller gets one until enough are given back. */
  setPermits(permits: number): void {
    this.#permits = permits;
    this.#admit();
  }

  #admit(): void {
    while (this.#taken < this.#permits && this.#queue.admitFirst()) this.#taken += 1;
  }
}
