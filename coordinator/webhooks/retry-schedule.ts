import type { TryOutcome } from "../store/webhook-store.ts";

/** Tries end so long after what they tell of. */
export const RETRY_FOR_MS = 24 * 3_600_000;
/** Delays after the first, second, … failed try, as multiples of the first: 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, then 4 h. */
const DELAYS = [1, 6, 24, 120, 360, 720, 1_440, 2_880] as const;
/** Each delay is longer or shorter by up to this part of it, so that what failed together does not come back together. */
const JITTER = 0.25;
/** "Gone": the receiver wants no more. */
const GONE = 410;

export interface TryFacts {
  /** Null: no answer. */
  readonly status: number | null;
  /** Tries so far, this one included. */
  readonly tries: number;
  readonly endedAtMs: number;
  readonly nowMs: number;
  readonly firstRetryMs: number;
  /** 0 (included) to 1 (excluded). */
  readonly random: () => number;
}

/** What follows from a try: any 2xx is a delivery, 410 ends it, everything else is tried again for a day. */
export function outcomeOf({ status, tries, endedAtMs, nowMs, firstRetryMs, random }: TryFacts): TryOutcome {
  if (status !== null && status >= 200 && status < 300) return { state: "delivered" };
  if (status === GONE) return { state: "failed" };
  const factor = DELAYS[Math.min(tries, DELAYS.length) - 1] ?? 1;
  const delayMs = Math.round(factor * firstRetryMs * (1 - JITTER + 2 * JITTER * random()));
  const dueAtMs = nowMs + delayMs;
  return dueAtMs > endedAtMs + RETRY_FOR_MS ? { state: "failed" } : { state: "pending", dueAtMs };
}
