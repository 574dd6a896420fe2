/** Micro-credits per credit. All amounts are integers of micro-credits. Source: decision 0013. */
export const MICRO_PER_CREDIT = 1_000_000;

/** Maximum input of `microFromCredits`: below 2^32 credits a double represents every micro-credit exactly. */
const MAX_CREDITS = 4_000_000_000;

/**
 * Converts credits to micro-credits.
 * @throws {RangeError} unless `credits` is 0 to 4,000,000,000 with at most 6 decimals.
 */
export function microFromCredits(credits: number): number {
  const micro = Math.round(credits * MICRO_PER_CREDIT);
  // The quotient of two exact integers is the nearest double, so it equals `credits` if that has at most 6 decimals.
  if (!(credits >= 0 && credits <= MAX_CREDITS) || micro / MICRO_PER_CREDIT !== credits) {
    throw new RangeError(`Invalid amount of ${credits} credits: expected 0 to ${MAX_CREDITS}, with at most 6 decimals`);
  }
  return micro;
}

/**
 * Converts micro-credits to credits, exactly below 2^53. Grants cannot exceed that; earnings can.
 * @throws {RangeError} unless `micro` is an integer of 0 or more.
 */
export function creditsFromMicro(micro: number): number {
  if (!Number.isInteger(micro) || micro < 0)
    throw new RangeError(`Invalid amount of ${micro} micro-credits: expected an integer of 0 or more`);
  return micro / MICRO_PER_CREDIT;
}

/** Formats micro-credits (0 or more) as exact decimal text without trailing zeros: 900_000 is "0.9". */
export function formatCredits(micro: number | bigint): string {
  const digits = String(micro).padStart(7, "0");
  const decimals = digits.slice(-6).replace(/0+$/, "");
  return digits.slice(0, -6) + (decimals === "" ? "" : `.${decimals}`);
}
