import { pairedRatios, summarize, type Summary } from "./statistics.ts";
import type { LinePlot } from "./line-plot.ts";

export interface BenchOptions {
  /** Of each variant. */
  readonly runs: number;
  /** Smallest numbers: shows that the script works, and measures nothing. */
  readonly isQuick: boolean;
  readonly log: (line: string) => void;
}

/** A script that answers one question. It throws when an answer, a count or an end is not what it must be. */
export interface Bench {
  readonly name: string;
  readonly title: string;
  /** What runs it, unless it is one of `npm run bench`. */
  readonly command?: string;
  run(options: BenchOptions): Promise<BenchResult>;
}

export interface BenchResult {
  readonly figures: readonly Figure[];
  readonly plots?: readonly LinePlot[];
  /** What a reader must know: what could not be compared here, and why. */
  readonly notes?: readonly string[];
}

export interface Figure {
  readonly what: string;
  readonly unit: string;
  /** One of each run. */
  readonly values: readonly number[];
  /** Of the same runs. */
  readonly baseline?: { readonly name: string; readonly values: readonly number[] };
  readonly budget?: Budget;
}

export interface Budget {
  readonly text: string;
  /** What the parts that the coordinator cannot do without, measured alone in the same runs, allow. Shown where the budget is not met. */
  readonly limit?: { readonly name: string; readonly values: readonly number[] };
  isMet(figure: { median: number; ratio: number; baseline: number }): boolean;
}

/** A figure as it is stored and shown. */
export interface FigureLine {
  readonly what: string;
  readonly unit: string;
  readonly figure: Summary;
  readonly baseline: ({ readonly name: string } & Summary) | null;
  /** Median of the ratios to the baseline of the same run. */
  readonly ratio: number | null;
  readonly budget: {
    readonly text: string;
    readonly isMet: boolean;
    readonly limit?: { readonly name: string } & Summary;
  } | null;
}

export function summarizeFigure({ what, unit, values, baseline, budget }: Figure): FigureLine {
  const figure = summarize(values);
  const ratios = pairedRatios(values, baseline?.values ?? []);
  const ratio = ratios.length === 0 ? null : summarize(ratios).median;
  const base = baseline === undefined ? null : { name: baseline.name, ...summarize(baseline.values) };
  const facts = { median: figure.median, ratio: ratio ?? Number.NaN, baseline: base?.median ?? Number.NaN };
  return {
    what,
    unit,
    figure,
    baseline: base,
    ratio,
    budget: budget === undefined ? null : { text: budget.text, isMet: budget.isMet(facts), ...limitOf(budget) },
  };
}

const limitOf = ({ limit }: Budget) =>
  limit === undefined ? {} : { limit: { name: limit.name, ...summarize(limit.values) } };
