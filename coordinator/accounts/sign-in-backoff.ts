import { growingMs } from "../../shared/async/backoff.ts";
import type { Clock } from "../../shared/clock.ts";
import { RateLimitedError } from "../../shared/errors.ts";
import { recentMap } from "../../shared/recent-map.ts";

/** Wrong passwords of an account before the first wait. */
const FREE_FAILURES = 5;
const WAITS = { firstMs: 1_000, maxMs: 60_000 } as const;
/** After this long without a wrong password, counting begins again. */
const FORGET_MS = 900_000;
const MAX_EMAILS = 50_000;
const MAX_KNOWN = 50_000;
const MS_PER_S = 1_000;

/**
 * Slows down the guessing of one account's password from many network addresses: from the sixth wrong password on, the next try must
 * wait 1 s, then twice as long each time, up to a minute. Addresses without an account count in the same way, so that a wait tells
 * nothing.
 *
 * Strangers cannot lock the owner out: a network address from which the account was signed in to since the coordinator's start is not
 * held up, nor are sessions and API keys. From a new address, during an attack, the owner waits up to a minute for a try.
 *
 * The returned function counts a try as a failure until `succeeded`, so that tries at the same time are no way around. It throws a
 * {@link RateLimitedError}.
 */
export function signInBackoff(
  clock: Pick<Clock, "monotonicMs">,
): (email: string, address: string) => { readonly succeeded: () => void } {
  /** Failures by e-mail address. */
  const failures = recentMap<{ readonly count: number; readonly atMs: number }>(MAX_EMAILS);
  /** Network addresses from which an account was signed in to. */
  const known = recentMap<true>(MAX_KNOWN);
  return (email, address) => {
    const key = email.toLowerCase();
    const pair = `${key} ${address}`;
    const succeeded = (): void => void known.set(pair, true);
    if (known.has(pair)) return { succeeded };
    const nowMs = clock.monotonicMs();
    const last = failures.get(key);
    const before = last === undefined || nowMs - last.atMs > FORGET_MS ? 0 : last.count;
    const leftMs = (last?.atMs ?? 0) + waitMs(before) - nowMs;
    if (leftMs > 0) throw new RateLimitedError("login_attempts", Math.ceil(leftMs / MS_PER_S));
    failures.set(key, { count: before + 1, atMs: nowMs });
    return {
      succeeded: () => {
        succeeded();
        const now = failures.get(key);
        if (now !== undefined) failures.set(key, { ...now, count: Math.max(0, now.count - 1) });
      },
    };
  };
}

function waitMs(failures: number): number {
  return failures < FREE_FAILURES ? 0 : growingMs(failures - FREE_FAILURES + 1, WAITS);
}
