/** Tolerated difference between the clocks of coordinator and browser. `Date` headers are whole seconds. */
const TOLERATED_MS = 5_000;
let aheadMs = 0;

/**
 * Returns the coordinator's time. All times that pages show are the coordinator's, and a browser's clock may be wrong
 * by days.
 */
export function networkNow(): number {
  return Date.now() + aheadMs;
}

/** Updates the clock difference from the `Date` header of a response; null if it has none. */
export function learnTime(date: string | null): void {
  const differenceMs = date === null ? Number.NaN : Date.parse(date) - Date.now();
  if (Number.isNaN(differenceMs)) return;
  aheadMs = Math.abs(differenceMs) < TOLERATED_MS ? 0 : differenceMs;
}
