import { RateLimitedError } from "../../shared/errors.ts";
import { RETRY_AFTER_S } from "../store/refusals.ts";

/** Counts the open streams of each account: of jobs, chats and conversations. */
export class StreamQuota {
  /** Accounts with at least one open stream. */
  readonly #open = new Map<string, number>();

  /**
   * Opens a stream; the returned function closes it, and may be called twice.
   * @throws {RateLimitedError} if the account has `limit` open already.
   */
  enter(accountId: string, limit: number): () => void {
    const open = this.#open.get(accountId) ?? 0;
    if (open >= limit) throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
    this.#open.set(accountId, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#open.get(accountId) ?? 0) - 1;
      if (left > 0) this.#open.set(accountId, left);
      else this.#open.delete(accountId);
    };
  }

  /** Accounts with at least one open stream. */
  accounts(): Iterable<string> {
    return this.#open.keys();
  }

  /** Open streams of the account. */
  count(accountId: string): number {
    return this.#open.get(accountId) ?? 0;
  }
}
