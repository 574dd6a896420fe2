import type * as Prometheus from "prom-client";
import type { Distribution } from "./distribution.ts";
import type { MetricInfo, Tally } from "./tally.ts";

/** The package `prom-client`, which is loaded when metrics are first asked for: that takes 35 ms (2026-11-22). */
export type PrometheusLibrary = Pick<typeof Prometheus, "Counter" | "Gauge" | "collectDefaultMetrics">;

type Rows = Iterable<readonly [labels: readonly string[], value: number]>;

/** A metric with a value of now for each combination of labels. */
export interface Reading extends MetricInfo {
  readonly type: "counter" | "gauge";
  /** Called at each scrape. */
  readonly read: () => Rows | Promise<Rows>;
}

const BUCKET_LABEL = "le";
/** Of the library's own metrics, those that list every open connection at each scrape. */
const COSTLY = ["handles", "requests", "resources"].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
]);

/** A metric of the library that reads its values at each scrape. */
export function metricOf(
  library: PrometheusLibrary,
  { type, name, help, labelNames, read }: Reading,
): Prometheus.Metric {
  const base = { name, help, labelNames: [...labelNames], registers: [] };
  if (type === "counter") {
    return new library.Counter({
      ...base,
      async collect() {
        const rows = await read();
        this.reset();
        for (const [labels, value] of rows) this.inc(labelled(labelNames, labels), value);
      },
    });
  }
  return new library.Gauge({
    ...base,
    async collect() {
      const rows = await read();
      this.reset();
      // For a metric without labels the library reports 0, where an unknown value must have no row.
      if (labelNames.length === 0) this.remove();
      for (const [labels, value] of rows) this.set(labelled(labelNames, labels), value);
    },
  });
}

/** The counts so far. */
export function counterOf(library: PrometheusLibrary, tally: Tally): Prometheus.Metric {
  const read = () => [...tally.series()].map(({ labels, count }) => [labels, count] as const);
  return metricOf(library, { ...tally.info, type: "counter", read });
}

/** The histogram so far, in cumulative buckets. Source: Prometheus, "Exposition formats", histograms. */
export function histogramOf(distribution: Distribution): Prometheus.Metric {
  const { info } = distribution;
  const { name, help } = info;
  // What a registry asks of a metric. The library's own histogram would need an observation for each value.
  const metric = {
    name,
    get: async () => ({ name, help, type: "histogram", aggregator: "sum", values: [...valuesOf(distribution)] }),
  };
  return metric as unknown as Prometheus.Metric;
}

/** CPU, memory and garbage collection of the process, and how late its event loop is. */
export function addProcessMetrics(library: PrometheusLibrary, register: Prometheus.Registry): void {
  library.collectDefaultMetrics({ register });
  for (const name of COSTLY) register.removeSingleMetric(name);
}

function* valuesOf(distribution: Distribution): Iterable<Prometheus.MetricValueWithName<string>> {
  const { info, bounds } = distribution;
  for (const { labels: values, counts, sum } of distribution.series()) {
    const labels = labelled(info.labelNames, values);
    let total = 0;
    for (const [index, count] of counts.entries()) {
      total += count;
      const bound = bounds[index] ?? "+Inf";
      yield { metricName: `${info.name}_bucket`, labels: { ...labels, [BUCKET_LABEL]: bound }, value: total };
    }
    yield { metricName: `${info.name}_sum`, labels, value: sum };
    yield { metricName: `${info.name}_count`, labels, value: total };
  }
}

function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
}
