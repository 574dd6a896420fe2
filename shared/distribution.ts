import { SeriesByLabels, type MetricInfo, type Series } from "./tally.ts";

/** How often values were at most each bound, for quantiles. */
export interface Buckets extends Series {
  /** By bound: values above the bound before and at most this one; the last is of values above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

interface MutableBuckets extends Series {
  readonly counts: number[];
  sum: number;
}

/** A histogram that costs a search and two additions, read when somebody asks for it. */
export class Distribution {
  readonly info: MetricInfo;
  /** Upper ends of the buckets, rising. */
  readonly bounds: readonly number[];
  readonly #buckets: SeriesByLabels<MutableBuckets>;

  constructor(info: MetricInfo, bounds: readonly number[], maxSeries?: number) {
    this.info = info;
    this.bounds = bounds;
    const make = (labels: readonly string[]): MutableBuckets => {
      return { labels, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 };
    };
    this.#buckets = new SeriesByLabels(make, maxSeries);
    if (info.labelNames.length === 0) this.#buckets.of([]);
  }

  /** A negative value, of a clock that was set back, counts as 0. */
  observe(labels: readonly string[], value: number): void {
    const buckets = this.#buckets.of(labels);
    const counted = Math.max(0, value);
    const at = this.bounds.findIndex((bound) => counted <= bound);
    const index = at === -1 ? this.bounds.length : at;
    buckets.counts[index] = (buckets.counts[index] ?? 0) + 1;
    buckets.sum += counted;
  }

  series(): Iterable<Buckets> {
    return this.#buckets.list();
  }
}
