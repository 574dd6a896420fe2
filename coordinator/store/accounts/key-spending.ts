/** Whole calendar months in UTC since January 1970. */
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

/** Limits of an API key. They do not end work in progress; the end of the key does, including open streams. */
export interface KeyLimits {
  /** Time from which the key is refused; null for never. */
  readonly expiresAtMs: number | null;
  /** Slugs of the Cargos that it may run; null for all. */
  readonly cargos: readonly string[] | null;
  /** Maximum cost of its jobs in a month, in micro-credits: charged, or held while unfinished. Null for no limit. */
  readonly monthlyMicro: number | null;
}

export const NO_KEY_LIMITS: KeyLimits = { expiresAtMs: null, cargos: null, monthlyMicro: null };

/** Facts of an API key for the check of a submission. */
export type UsedKey = Pick<KeyLimits, "cargos" | "monthlyMicro"> & { readonly number: number };

export interface SubmittingKey {
  readonly number: number;
  /** Null for a key without a monthly limit, whose spending is not counted continuously. */
  readonly monthly: {
    readonly limitMicro: number;
    readonly month: UtcMonth;
    /** Sum of the prices of all jobs of the submission. */
    readonly neededMicro: number;
  } | null;
}
