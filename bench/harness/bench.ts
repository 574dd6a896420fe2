import { pairedRatios, summarize, type Summary } from "./statistics.ts";
import type { LinePlot } from "./line-plot.ts";

export interface BenchOptions {
  /** Number of runs of each variant. */
  readonly runs: number;
  /** Whether to use the smallest numbers, which only show that the script works. */
  readonly isQuick: boolean;
  readonly log: (line: string) => void;
}

/** A script that measures one question. Throws if a response, a count or the end of a job is not as expected. */
export interface Bench {
  readonly name: string;
  readonly title: string;
  /** Command of a bench that is not part of `npm run bench`. */
  readonly command?: string;
  run(options: BenchOptions): Promise<BenchResult>;
}

export interface BenchResult {
  readonly figures: readonly Figure[];
  readonly plots?: readonly LinePlot[];
  /** Notes for the reader, such as what could not be compared and why. */
  readonly notes?: readonly string[];
}

export interface Figure {
  readonly what: string;
  readonly unit: string;
  /** One value per run. */
  readonly values: readonly number[];
  /** Values of the baseline in the same runs. */
  readonly baseline?: { readonly name: string; readonly values: readonly number[] };
  readonly budget?: Budget;
}

export interface Budget {
  readonly text: string;
  /** Limit set by indispensable parts, measured separately in the same runs. Shown if the budget is missed. */
  readonly limit?: { readonly name: string; readonly values: readonly number[] };
  isMet(figure: { median: number; ratio: number; baseline: number }): boolean;
}

/** A figure in its stored and shown form. */
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
