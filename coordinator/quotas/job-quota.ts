import { REFUSALS } from "../store/refusals.ts";

/**
 * Counts the unfinished jobs of each account that this coordinator has. Jobs of a batch count from the moment they get a place. A store
 * that several coordinators share counts those of all, and decides in the commit (`store/job-places.ts`); this is then a first look.
 */
export class JobQuota {
  /** Accounts with at least one place taken. */
  readonly #places = new Map<string, number>();
  readonly #listeners = new Set<(accountId: string) => void>();

  /** Takes a place. @throws {RateLimitedError} if the account has `limit` already; nothing changes. */
  enter(accountId: string, limit: number): void {
    if (this.isFull(accountId, limit)) throw REFUSALS.too_many_jobs(limit);
    this.add(accountId);
  }

  isFull(accountId: string, limit: number): boolean {
    return (this.#places.get(accountId) ?? 0) >= limit;
  }

  /** Takes a place regardless of the limit: for a job that was accepted before a restart. */
  add(accountId: string): void {
    this.#places.set(accountId, (this.#places.get(accountId) ?? 0) + 1);
  }

  /** Frees a place. @throws if the account has none: the job was counted twice. */
  leave(accountId: string): void {
    const places = this.#places.get(accountId) ?? 0;
    if (places === 0) throw new Error(`Account ${accountId} has no place of a job to give back`);
    if (places === 1) this.#places.delete(accountId);
    else this.#places.set(accountId, places - 1);
    for (const listener of this.#listeners) listener(accountId);
  }

  /** Calls `listener` synchronously after each freed place, until the returned function is called. */
  onRoom(listener: (accountId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
