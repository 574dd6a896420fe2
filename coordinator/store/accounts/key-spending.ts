import type { Trust } from "../../credits/trust.ts";
/** A month in UTC, as the number of months since January 1970. */
export type UtcMonth = number;

const MONTHS_PER_YEAR = 12;
const FIRST_YEAR = 1970;

export function utcMonthOf(atMs: number): UtcMonth {
  const date = new Date(atMs);
  return (date.getUTCFullYear() - FIRST_YEAR) * MONTHS_PER_YEAR + date.getUTCMonth();
}

export function monthBeginMs(month: UtcMonth): number {
  return Date.UTC(FIRST_YEAR, month);
}

/** Limits of an API key. When one is reached, work in progress continues. The end of the key also ends its streams. */
export interface KeyLimits {
  /** Time from which requests with the key are refused; null for never. */
  readonly expiresAtMs: number | null;
  /** Slugs of the Cargos that the key may run; null for all. */
  readonly cargos: readonly string[] | null;
  /**
   * Maximum cost of the key's jobs in a month, in micro-credits: charged, or held while unfinished. Null for no limit.
   */
  readonly monthlyMicro: number | null;
}

export const NO_KEY_LIMITS: KeyLimits = { expiresAtMs: null, cargos: null, monthlyMicro: null };

/** The part of an API key that the check of a submission reads. */
export type UsedKey = Pick<KeyLimits, "cargos" | "monthlyMicro"> & {
  readonly number: number;
  /** Trust of jobs that ask for none; absent in batches of earlier versions. */
  readonly trust?: Trust | null;
};

export interface SubmittingKey {
  readonly number: number;
  /** Check of the monthly limit; null for a key without that limit, whose spending is not tracked. */
  readonly monthly: {
    readonly limitMicro: number;
    readonly month: UtcMonth;
    /** Sum of the prices of all jobs of the submission. */
    readonly neededMicro: number;
  } | null;
}
