import { RateLimitedError } from "../../shared/errors.ts";
import { RETRY_AFTER_S } from "./account-limits.ts";

/** Counts the unfinished jobs of each account that hold a place, which is all but those of a batch that wait for one. */
export class JobQuota {
  /** Accounts with at least one place taken. */
  readonly #places = new Map<string, number>();
  readonly #listeners = new Set<(accountId: string) => void>();

  /** Takes a place. @throws {RateLimitedError} when the account has `limit` already; nothing is taken. */
  enter(accountId: string, limit: number): void {
    if (this.isFull(accountId, limit)) throw new RateLimitedError("concurrent_jobs", RETRY_AFTER_S);
    this.add(accountId);
  }

  isFull(accountId: string, limit: number): boolean {
    return (this.#places.get(accountId) ?? 0) >= limit;
  }

  /** Takes a place whatever the limit: for a job that was accepted before, when the coordinator starts again. */
  add(accountId: string): void {
    this.#places.set(accountId, (this.#places.get(accountId) ?? 0) + 1);
  }

  /** Gives a place back. @throws when the account has none: a job was counted twice. */
  leave(accountId: string): void {
    const places = this.#places.get(accountId) ?? 0;
    if (places === 0) throw new Error(`Account ${accountId} holds no place for a job`);
    if (places === 1) this.#places.delete(accountId);
    else this.#places.set(accountId, places - 1);
    for (const listener of this.#listeners) listener(accountId);
  }

  /** Calls `listener` after each place that was given back, synchronously, until the returned function is called. */
  onRoom(listener: (accountId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
