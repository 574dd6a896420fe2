import { WaitQueue } from "./wait-queue.ts";

/** Limits the number of concurrent callers. All other callers wait in order of arrival. */
export class Semaphore<T> {
  #permits: number;
  readonly #queue = new WaitQueue<T>();
  #taken = 0;

  /** @param permits at least 1 */
  constructor(permits: number) {
    this.#permits = permits;
  }

  /** Takes a permit if one is free. The caller must `release` it. */
  tryAcquire(): boolean {
    if (this.#taken >= this.#permits) return false;
    this.#taken += 1;
    return true;
  }

  /** Resolves when `caller` has a permit, which it must `release`. Rejects with `signal.reason`. */
  async acquire(caller: T, signal: AbortSignal): Promise<void> {
    if (!this.tryAcquire()) await this.#queue.wait(caller, signal);
  }

  /** Returns a permit, which goes to the first caller in the queue. */
  release(): void {
    this.#taken -= 1;
    this.#admit();
  }

  /**
   * Changes the limit. While more permits are held than the new limit allows, no caller gets one.
   * @param permits at least 1
   */
  setPermits(permits: number): void {
    this.#permits = permits;
    this.#admit();
  }

  #admit(): void {
    while (this.#taken < this.#permits && this.#queue.admitFirst()) this.#taken += 1;
  }
}
