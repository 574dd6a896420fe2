/** What is measured, as Prometheus names it. */
export interface MetricInfo {
  readonly name: string;
  /** One sentence, for people. */
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** One row of a metric. */
export interface Series {
  /** In the order of the names. */
  readonly labels: readonly string[];
}

/** What a label's value is beyond the values that have a row of their own. */
export const OTHER = "other";
/** No metric has more rows, whatever its labels say; a row of all `other` takes the rest. */
const MAX_SERIES = 2_000;

/** The rows of one metric, by their labels. */
export class SeriesByLabels<S extends Series> {
  readonly #byLabels = new Map<string, S>();
  readonly #make: (labels: readonly string[]) => S;
  readonly #maxSeries: number;

  constructor(make: (labels: readonly string[]) => S, maxSeries = MAX_SERIES) {
    this.#make = make;
    this.#maxSeries = maxSeries;
  }

  of(labels: readonly string[]): S {
    const found = this.#byLabels.get(labels.join("\n"));
    if (found !== undefined) return found;
    const isFull = this.#byLabels.size >= this.#maxSeries;
    const own = isFull ? labels.map(() => OTHER) : labels;
    const key = own.join("\n");
    const made = this.#byLabels.get(key) ?? this.#make(own);
    this.#byLabels.set(key, made);
    return made;
  }

  list(): Iterable<S> {
    return this.#byLabels.values();
  }
}

interface Count extends Series {
  count: number;
}

/** A counter that costs an addition: counts by labels, read when somebody asks for them. */
export class Tally {
  readonly info: MetricInfo;
  readonly #counts: SeriesByLabels<Count>;

  constructor(info: MetricInfo, maxSeries?: number) {
    this.info = info;
    this.#counts = new SeriesByLabels((labels) => ({ labels, count: 0 }), maxSeries);
    if (info.labelNames.length === 0) this.add([], 0);
  }

  add(labels: readonly string[], count = 1): void {
    this.#counts.of(labels).count += count;
  }

  series(): Iterable<Readonly<Count>> {
    return this.#counts.list();
  }
}

/** The first `max` values of a label keep their names; all later ones are `other`, so that the rows of a metric have a bound. */
export class FirstNames {
  readonly #names = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  of(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#max) return OTHER;
    this.#names.add(name);
    return name;
  }
}
