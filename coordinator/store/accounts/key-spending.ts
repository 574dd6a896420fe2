/** A calendar month in UTC: whole months since January 1970. */
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

/** Limits of one API key. They end with nothing that is under way, but with the key: open streams too. */
export interface KeyLimits {
  /** The key is refused from then on; null: never. */
  readonly expiresAtMs: number | null;
  /** Slugs of the Cargos that it may run; null: all. */
  readonly cargos: readonly string[] | null;
  /** Micro-credits that its jobs may cost in a calendar month (UTC): charged, or held while unfinished. Null: any number. */
  readonly monthlyMicro: number | null;
}

export const NO_KEY_LIMITS: KeyLimits = { expiresAtMs: null, cargos: null, monthlyMicro: null };

/** What a submission is checked by, of the API key that it comes with. */
export type UsedKey = Pick<KeyLimits, "cargos" | "monthlyMicro"> & { readonly number: number };

/** The API key that a submission comes with. */
export interface SubmittingKey {
  /** See `ApiKey`. */
  readonly number: number;
  /** Null for a key without such a limit: its spending is not counted as it happens. */
  readonly monthly: {
    readonly limitMicro: number;
    readonly month: UtcMonth;
    /** The prices of all jobs of the submission. */
    readonly neededMicro: number;
  } | null;
}
