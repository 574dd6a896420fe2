import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { TokenBucket } from "./token-bucket.ts";

const DAY_S = 86_400;
/** Accounts whose use is remembered; a forgotten one counts as new. */
const MAX_ACCOUNTS = 10_000;

/**
 * How much the jobs of one account may store, inputs and outputs: that of a day at once, which comes back within a day. Without it, an
 * account with an Island of its own could fill the disk. A restart forgets what was used.
 */
export class DailyStorage {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #maxBytes: number;
  readonly #accounts = recentMap<TokenBucket>(MAX_ACCOUNTS);

  constructor(clock: Pick<Clock, "monotonicMs">, maxBytes: number) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  /** Counts what the account's jobs store. Returns the ms until there is room for it, and counts nothing then; 0 if there is. */
  take(accountId: string, bytes: number): number {
    const account = this.#accounts.get(accountId) ?? this.#open(accountId);
    const waitMs = account.take(bytes);
    if (waitMs > 0) account.take(-bytes);
    return waitMs;
  }

  #open(accountId: string): TokenBucket {
    const account = new TokenBucket(this.#clock, { perSecond: this.#maxBytes / DAY_S, burst: this.#maxBytes });
    this.#accounts.set(accountId, account);
    return account;
  }
}
