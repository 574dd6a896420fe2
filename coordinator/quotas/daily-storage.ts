import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { TokenBucket } from "./token-bucket.ts";

const DAY_S = 86_400;
/** Maximum number of accounts whose use is remembered. A forgotten account gets its full amount again. */
const MAX_ACCOUNTS = 10_000;

export type DailyStorage = ReturnType<typeof dailyStorage>;

/**
 * Limits the bytes that the jobs of one account store: a day's amount at once, refilled over a day. Without the limit,
 * an account with its own Island could fill the disk. A restart resets the use.
 */
export function dailyStorage(clock: Clock, maxBytes: number) {
  const accounts = recentMap<TokenBucket>(MAX_ACCOUNTS);
  return {
    /**
     * Counts the bytes and returns 0. If there is no capacity for them, counts nothing and returns the ms until there
     * is.
     */
    take(accountId: string, bytes: number): number {
      let account = accounts.get(accountId);
      if (account === undefined) {
        account = new TokenBucket(clock, { perSecond: maxBytes / DAY_S, burst: maxBytes });
        accounts.set(accountId, account);
      }
      const waitMs = account.take(bytes);
      if (waitMs > 0) account.take(-bytes);
      return waitMs;
    },
  };
}
