import { REFUSALS } from "../store/refusals.ts";
import { Pool } from "./pool.ts";

/**
 * Counts the unfinished jobs of each account at this coordinator; a job of a batch counts once it has a quota slot. In
 * a cluster this is only a first check: the commit counts the jobs of all coordinators (`store/cluster-store.ts`).
 */
export class JobQuota {
  readonly #slots = new Pool({ account: Infinity });
  readonly #listeners = new Set<(accountId: string) => void>();

  /** Takes a slot. @throws {RateLimitedError} if the account already has `limit` slots. */
  enter(accountId: string, limit: number): void {
    if (this.isFull(accountId, limit)) throw REFUSALS.too_many_jobs(limit);
    this.add(accountId);
  }

  isFull(accountId: string, limit: number): boolean {
    return this.#slots.count("account", accountId) >= limit;
  }

  /** Takes a slot regardless of the limit, for a job that was already accepted. */
  add(accountId: string): void {
    this.#slots.add([["account", accountId]], 1);
  }

  /** Releases a slot. @throws if the account has none. */
  leave(accountId: string): void {
    this.#slots.add([["account", accountId]], -1);
    for (const listener of this.#listeners) listener(accountId);
  }

  /** Calls `listener` synchronously after a slot is released, until the returned function is called. */
  onCapacity(listener: (accountId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
