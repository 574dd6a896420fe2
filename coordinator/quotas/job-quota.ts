import { REFUSALS } from "../store/refusals.ts";
import { Pool } from "./pool.ts";

/**
 * Counts the unfinished jobs of each account that this coordinator has. Jobs of a batch count from the moment they get a place. A store
 * that several coordinators share counts those of all, and decides in the commit (`store/cluster-store.ts`); this is then a first look.
 */
export class JobQuota {
  readonly #places = new Pool({ account: Infinity });
  readonly #listeners = new Set<(accountId: string) => void>();

  /** Takes a place. @throws {RateLimitedError} if the account has `limit` already; nothing changes. */
  enter(accountId: string, limit: number): void {
    if (this.isFull(accountId, limit)) throw REFUSALS.too_many_jobs(limit);
    this.add(accountId);
  }

  isFull(accountId: string, limit: number): boolean {
    return this.#places.count("account", accountId) >= limit;
  }

  /** Takes a place regardless of the limit: for a job that was accepted before a restart. */
  add(accountId: string): void {
    this.#places.add([["account", accountId]], 1);
  }

  /** Frees a place. @throws if the account has none: the job was counted twice. */
  leave(accountId: string): void {
    this.#places.add([["account", accountId]], -1);
    for (const listener of this.#listeners) listener(accountId);
  }

  /** Calls `listener` synchronously after each freed place, until the returned function is called. */
  onCapacity(listener: (accountId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
