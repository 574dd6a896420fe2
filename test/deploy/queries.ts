import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const DEPLOY = join(import.meta.dirname, "..", "..", "deploy");
export const PROMETHEUS_DIRECTORY = join(DEPLOY, "prometheus");

/** A PromQL query. `source` is the title of its panel or the name of its alert. */
export interface Query {
  readonly source: string;
  readonly expr: string;
}

/** A panel or row of Grafana. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
}

interface Alerts {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

/** Returns the queries of deploy/grafana/atoll.json, with its variables set to "all". */
export function dashboardQueries(): readonly Query[] {
  return dashboardPanels().flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      source: title,
      expr: expr.replaceAll("$__rate_interval", "1m").replaceAll("$job", ".*").replaceAll("$instance", ".*"),
    })),
  );
}

export function dashboardPanels(): readonly Panel[] {
  const text = readFileSync(join(DEPLOY, "grafana", "atoll.json"), "utf8");
  return (JSON.parse(text) as { readonly panels: readonly Panel[] }).panels;
}

/** Returns the queries of deploy/prometheus/alerts.yml. */
export function alertQueries(): readonly Query[] {
  const { groups } = parse(readFileSync(join(PROMETHEUS_DIRECTORY, "alerts.yml"), "utf8")) as Alerts;
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ source: alert, expr })));
}

export function metricsIn({ expr }: Query): readonly string[] {
  return expr.match(/\b(?:atoll|nodejs|process)_\w+|\bup\b/g) ?? [];
}

/** Returns the labels that a query matches or groups by. */
export function labelsIn({ expr }: Query): readonly string[] {
  const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, matchers = ""]) =>
    [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, name = ""]) => name),
  );
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = ""]) => names.split(/,\s*/));
  return [...matched, ...grouped];
}

/** Returns the labels of each series in Prometheus' text format, including empty histograms. */
export function seriesOf(scrape: string): ReadonlyMap<string, ReadonlySet<string>> {
  const histograms = [...scrape.matchAll(/^# TYPE (\w+) histogram$/gm)].flatMap(([, name = ""]) =>
    ["bucket", "sum", "count"].map((part) => `${name}_${part}`),
  );
  const series = new Map(histograms.map((name) => [name, new Set<string>()]));
  for (const [, name = "", labels = ""] of scrape.matchAll(/^([a-z]\w*)(?:\{(.*)\})? /gm)) {
    const known = series.get(name) ?? new Set<string>();
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
    series.set(name, known);
  }
  return series;
}
