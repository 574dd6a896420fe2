import type { Budget, Figure } from "./bench.ts";
import type { PlotLine } from "./line-plot.ts";
import { formatNumber } from "./format-number.ts";

/** Metrics of one run of one variant, by name. */
export type Metrics = Readonly<Record<string, number>>;
/** Metrics of all runs: `samples[variant][metric][run]`. */
export type Samples = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

/**
 * Runs each variant `runs` times in alternating order, so that a temporary slowdown of the machine affects all of them. Each call must
 * start new processes.
 */
export async function alternate(
  runs: number,
  variants: Readonly<Record<string, () => Promise<Metrics>>>,
  onRun: (line: string) => void,
): Promise<Samples> {
  const samples: Record<string, Record<string, number[]>> = {};
  const names = Object.keys(variants);
  for (let run = 0; run < runs; run += 1) {
    for (const name of run % 2 === 0 ? names : names.toReversed()) {
      const metrics = (await variants[name]?.()) ?? {};
      const ofVariant = (samples[name] ??= {});
      for (const [metric, value] of Object.entries(metrics)) (ofVariant[metric] ??= []).push(value);
      onRun(`run ${run + 1} of ${runs}, ${name}: ${describeMetrics(metrics)}`);
    }
  }
  return samples;
}

/** Returns all runs of one metric. @throws if no run measured the metric, because the bench has then failed. */
export function valuesOf(samples: Samples, variant: string, metric: string): readonly number[] {
  const values = samples[variant]?.[metric];
  if (values === undefined || values.length === 0) throw new Error(`No run of ${variant} measured ${metric}`);
  const wrong = values.find((value) => !Number.isFinite(value));
  if (wrong !== undefined) throw new Error(`${metric} of ${variant} is ${wrong}`);
  return values;
}

/** Computes one figure per run from the metrics of the run. */
export function ofEachRun(
  combine: (...values: number[]) => number,
  ...measured: readonly (readonly number[])[]
): number[] {
  const [first = [], ...others] = measured;
  return first.map((value, run) => combine(value, ...others.map((values) => values[run] ?? Number.NaN)));
}

/** States how a figure is computed from samples. */
export interface FigureRecipe {
  readonly what: string;
  readonly unit: string;
  readonly metric: string;
  /** Variant of the figure; default: the coordinator. */
  readonly of?: string;
  /** Variant to compare with, by default in the same metric. */
  readonly against?: { readonly variant: string; readonly name: string; readonly metric?: string };
  readonly budget?: Budget;
}

export function figureOf(
  samples: Samples,
  { what, unit, metric, of = "atoll", against, budget }: FigureRecipe,
): Figure {
  return {
    what,
    unit,
    values: valuesOf(samples, of, metric),
    ...(against === undefined
      ? {}
      : { baseline: { name: against.name, values: valuesOf(samples, against.variant, against.metric ?? metric) } }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/** Returns the plotted line of a variant over growing loads. Its metrics are named `${metric} ${level}`. */
export function lineOf(
  samples: Samples,
  variant: string,
  name: string,
  metric: string,
  levels: readonly number[],
): PlotLine {
  return { name, points: levels.map((level) => valuesOf(samples, variant, `${metric} ${level}`)) };
}

/** Returns the metrics as one line of text, for the progress output. */
export const describeMetrics = (metrics: Metrics): string =>
  Object.entries(metrics)
    .map(([name, value]) => `${name} ${formatNumber(value)}`)
    .join(", ");
