import type { Budget, Figure } from "./bench.ts";
import type { PlotLine } from "./line-plot.ts";
import { formatNumber } from "./format-number.ts";

/** Figures of one run of one variant, by name. */
export type Metrics = Readonly<Record<string, number>>;
/** Figures of all runs, in the order of the runs: `samples[variant][metric][run]`. */
export type Samples = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

/**
 * Runs each variant `runs` times in alternating order, so that what slows the machine for a while slows all of them. Each call must start
 * processes of its own.
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

/** All runs of one metric. @throws when there is none: a bench that measured nothing has failed. */
export function valuesOf(samples: Samples, variant: string, metric: string): readonly number[] {
  const values = samples[variant]?.[metric];
  if (values === undefined || values.length === 0) throw new Error(`No run of ${variant} measured ${metric}`);
  const wrong = values.find((value) => !Number.isFinite(value));
  if (wrong !== undefined) throw new Error(`${metric} of ${variant} is ${wrong}`);
  return values;
}

/** One figure of each run, combined of what was measured in it. */
export function ofEachRun(
  combine: (...values: number[]) => number,
  ...measured: readonly (readonly number[])[]
): number[] {
  const [first = [], ...others] = measured;
  return first.map((value, run) => combine(value, ...others.map((values) => values[run] ?? Number.NaN)));
}

/** How a figure is made of samples. */
export interface FigureRecipe {
  readonly what: string;
  readonly unit: string;
  readonly metric: string;
  /** Whose it is; the coordinator's unless given. */
  readonly of?: string;
  /** The variant it is compared with, of the same metric unless another is given. */
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

/** The line of a variant over growing loads: its metric is named `${metric} ${level}`. */
export function lineOf(
  samples: Samples,
  variant: string,
  name: string,
  metric: string,
  levels: readonly number[],
): PlotLine {
  return { name, points: levels.map((level) => valuesOf(samples, variant, `${metric} ${level}`)) };
}

/** For people who watch a run. */
export const describeMetrics = (metrics: Metrics): string =>
  Object.entries(metrics)
    .map(([name, value]) => `${name} ${formatNumber(value)}`)
    .join(", ");
