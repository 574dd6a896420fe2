/** Summary of a figure's runs. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly runs: number;
}

/** Summarizes the values. @throws {RangeError} if there are no values. */
export function summarize(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (min === undefined || max === undefined) throw new RangeError("A figure needs at least one run");
  return { median: percentile(sorted, 0.5), min, max, runs: sorted.length };
}

/**
 * Returns a percentile of sorted values by linear interpolation; `share` 0.5 is the median. NaN if there are no values.
 */
function percentile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  if (below === undefined || above === undefined) return Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** Returns p50 and p99 of unsorted values. */
export function p50AndP99(values: readonly number[]): { p50: number; p99: number } {
  const sorted = [...values].sort((a, b) => a - b);
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
}

/** Returns the ratios of values of the same run, because a slow run affects both values. */
export function pairedRatios(values: readonly number[], baseline: readonly number[]): number[] {
  return values.flatMap((value, run) => {
    const base = baseline[run];
    return base === undefined || base === 0 ? [] : [value / base];
  });
}
