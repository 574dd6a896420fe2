/** How well one Island runs one Cargo, measured. */
export interface Measure {
  /** Moving average; null until a run had a speed. */
  readonly tokensPerSecond: number | null;
  /** Moving average, 0 to 1. It starts at 1: an Island is trusted until it fails. */
  readonly successRate: number;
}

export const UNMEASURED: Measure = { tokensPerSecond: null, successRate: 1 };

/** Weight of the newest run. After about ten runs the older ones hardly count. */
const NEWEST_WEIGHT = 0.2;

/** The measure with one more run. A speed that is not a finite number above 0 is ignored. */
export function withRun(
  measure: Measure,
  run: { readonly tokensPerSecond: number | null; readonly succeeded: boolean },
): Measure {
  return {
    tokensPerSecond: averageSpeed(measure.tokensPerSecond, run.tokensPerSecond),
    successRate: moveTowards(measure.successRate, run.succeeded ? 1 : 0),
  };
}

function averageSpeed(average: number | null, newest: number | null): number | null {
  if (newest === null || !Number.isFinite(newest) || newest <= 0) return average;
  return average === null ? newest : moveTowards(average, newest);
}

function moveTowards(average: number, newest: number): number {
  return average + NEWEST_WEIGHT * (newest - average);
}
