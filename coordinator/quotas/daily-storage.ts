import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { TokenBucket } from "./token-bucket.ts";

const DAY_S = 86_400;
/** Maximum number of accounts whose use is kept. A dropped one counts as new. */
const MAX_ACCOUNTS = 10_000;

export type DailyStorage = ReturnType<typeof dailyStorage>;

/**
 * Limits how much the jobs of one account may store: a day's amount at once, which refills within a day. Without it, an
 * account with its own Island could fill the disk. A restart resets the use.
 */
export function dailyStorage(clock: Clock, maxBytes: number) {
  const accounts = recentMap<TokenBucket>(MAX_ACCOUNTS);
  return {
    /** Counts the bytes and returns 0; or returns the ms until there is capacity for them, without counting them. */
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
