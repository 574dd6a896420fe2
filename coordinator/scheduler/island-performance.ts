/** How well one Island runs one Cargo, measured. */
export interface Measure {
  /** Moving average; null until a run had a speed. */
  readonly tokensPerSecond: number | null;
  /** Runs that succeeded and runs that failed. Older ones fade, so both are fractions. */
  readonly successes: number;
  readonly failures: number;
}

export const UNMEASURED: Measure = { tokensPerSecond: null, successes: 0, failures: 0 };

/** Weight of the newest speed. After about ten runs the older ones hardly count. */
const NEWEST_WEIGHT = 0.2;
/** What an earlier run still counts after one more: in the long run the last twenty count. */
const FADING = 0.95;

/** The measure with one more run. A speed that is not a finite number above 0 is ignored. */
export function withRun(
  measure: Measure,
  run: { readonly tokensPerSecond: number | null; readonly succeeded: boolean },
): Measure {
  return {
    tokensPerSecond: averageSpeed(measure.tokensPerSecond, run.tokensPerSecond),
    successes: measure.successes * FADING + (run.succeeded ? 1 : 0),
    failures: measure.failures * FADING + (run.succeeded ? 0 : 1),
  };
}

/**
 * A success rate that one may count on, 0 to 1: the mean less one standard deviation of the Beta distribution that follows from a
 * uniform prior (Laplace's rule of succession; Gelman et al., "Bayesian Data Analysis", 2.1). A newcomer starts at 0.21 and has to earn
 * its rank: 0.55 after two runs that succeeded, 0.90 after forty.
 */
export function reliableSuccessRate({ successes, failures }: Measure): number {
  const [a, b] = [successes + 1, failures + 1];
  const mean = a / (a + b);
  const deviation = Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)));
  return Math.max(0, mean - deviation);
}

function averageSpeed(average: number | null, newest: number | null): number | null {
  if (newest === null || !Number.isFinite(newest) || newest <= 0) return average;
  return average === null ? newest : average + NEWEST_WEIGHT * (newest - average);
}
