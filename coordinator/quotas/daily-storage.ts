import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { TokenBucket } from "./token-bucket.ts";

const DAY_S = 86_400;
/** Accounts whose use is remembered; a forgotten one counts as new. */
const MAX_ACCOUNTS = 10_000;

export type DailyStorage = ReturnType<typeof dailyStorage>;

/**
 * How much the jobs of one account may store, inputs and outputs: that of a day at once, which comes back within a day. Without it, an
 * account with an Island of its own could fill the disk. A restart forgets what was used.
 */
export function dailyStorage(clock: Clock, maxBytes: number) {
  const accounts = recentMap<TokenBucket>(MAX_ACCOUNTS);
  return {
    /** Counts what the account's jobs store. Returns the ms until there is room for it, and counts nothing then; 0 if there is. */
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
