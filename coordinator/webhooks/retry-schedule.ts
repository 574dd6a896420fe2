import type { TryOutcome } from "../store/jobs/webhooks.ts";

/** No try is planned later than this after the end of the job or batch. */
export const RETRY_FOR_MS = 24 * 3_600_000;
/** Delays after the first, second, … failed try, as multiples of the first: 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, then 4 h. */
const DELAYS = [1, 6, 24, 120, 360, 720, 1_440, 2_880] as const;
/** Each delay varies by up to this share, so that deliveries that failed together are not repeated together. */
const JITTER = 0.25;
/** HTTP 410 Gone: the receiver wants no more tries. */
const GONE = 410;

export interface TryFacts {
  /** Null if there was no answer. */
  readonly status: number | null;
  /** Tries so far, this one included. */
  readonly tries: number;
  readonly endedAtMs: number;
  readonly nowMs: number;
  readonly firstRetryMs: number;
  /** 0 (included) to 1 (excluded). */
  readonly random: () => number;
}

/** Decides after a try: 2xx is delivered, 410 is given up, everything else is tried again for a day. */
export function outcomeOf({ status, tries, endedAtMs, nowMs, firstRetryMs, random }: TryFacts): TryOutcome {
  if (status !== null && status >= 200 && status < 300) return { state: "delivered" };
  if (status === GONE) return { state: "failed" };
  const factor = DELAYS[Math.min(tries, DELAYS.length) - 1] ?? 1;
  const delayMs = Math.round(factor * firstRetryMs * (1 - JITTER + 2 * JITTER * random()));
  const dueAtMs = nowMs + delayMs;
  return dueAtMs > endedAtMs + RETRY_FOR_MS ? { state: "failed" } : { state: "pending", dueAtMs };
}
