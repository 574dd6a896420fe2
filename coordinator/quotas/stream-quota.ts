import { RateLimitedError } from "../../shared/errors.ts";
import { RETRY_AFTER_S } from "../store/refusals.ts";
import { Pool } from "./pool.ts";

/** Counts the open streams of each account: of jobs, chats and conversations. */
export class StreamQuota {
  readonly #open = new Pool({ account: Infinity });

  /**
   * Opens a stream; the returned function closes it, and may be called twice.
   * @throws {RateLimitedError} if the account has `limit` open already.
   */
  enter(accountId: string, limit: number): () => void {
    const close = this.#open.take([["account", accountId]], 1, { account: limit });
    if (close === "account") throw new RateLimitedError("concurrent_streams", RETRY_AFTER_S);
    return close;
  }

  /** Accounts with at least one open stream. */
  accounts(): Iterable<string> {
    return this.#open.idsOf("account");
  }

  /** Open streams of the account. */
  count(accountId: string): number {
    return this.#open.count("account", accountId);
  }
}
