/** Inside, all money is in integers of micro-credits. Source: DESIGN §4, row Credits. */
export const MICRO_PER_CREDIT = 1_000_000;

/** @throws {RangeError} unless `credits` is 0 or more, has at most 6 decimals and stays within the exact integers. */
export function microFromCredits(credits: number): number {
  const micro = Math.round(credits * MICRO_PER_CREDIT);
  // Division of two exact integers rounds to the nearest double, which is what `credits` is if it has 6 decimals or fewer.
  if (!Number.isSafeInteger(micro) || credits < 0 || micro / MICRO_PER_CREDIT !== credits) {
    throw new RangeError(`${credits} is not an amount of credits: 0 or more, with at most 6 decimals`);
  }
  return micro;
}

/** @throws {RangeError} unless `micro` is an exact integer of 0 or more. */
export function creditsFromMicro(micro: number): number {
  if (!Number.isSafeInteger(micro) || micro < 0) throw new RangeError(`${micro} is not an amount of micro-credits`);
  return micro / MICRO_PER_CREDIT;
}
