/** Bounds grow by this factor, so that a figure is at most 5 % off. */
const FACTOR = 1.1;
/** The last bucket has all above about 20 minutes. */
const MAX_BUCKET = 147;

/** How often each length of time was seen: pairs of a bucket and a count. Those of several coordinators can be added. */
export type Counts = readonly (readonly [bucket: number, count: number])[];

/** The bucket of a time in ms. */
export function bucketOf(ms: number): number {
  return Math.min(MAX_BUCKET, Math.max(0, Math.round(Math.log(Math.max(1, ms)) / Math.log(FACTOR))));
}

export function mergeCounts(all: Iterable<Counts>): Counts {
  const sums = new Map<number, number>();
  for (const counts of all) for (const [bucket, count] of counts) sums.set(bucket, (sums.get(bucket) ?? 0) + count);
  return [...sums].sort(([a], [b]) => a - b);
}

/** The time below which this share of all is, in ms; null without any. */
export function quantileOf(counts: Counts, share: number): number | null {
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [bucket, count] of mergeCounts([counts])) {
    below += count;
    if (below >= total * share) return Math.round(FACTOR ** bucket * 10) / 10;
  }
  return null;
}
