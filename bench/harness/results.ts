import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatNumber } from "./format-number.ts";
import { summarizeFigure, type Bench, type BenchResult, type FigureLine } from "./bench.ts";
import { drawLinePlot } from "./line-plot.ts";
import type { MachineFacts } from "./machine.ts";
import type { Summary } from "./statistics.ts";

/** Stored figures of a bench in `raw/`. Another run of the bench replaces them. */
export interface StoredResult {
  readonly name: string;
  readonly title: string;
  /** Command of a bench that is not part of `npm run bench`. */
  readonly command?: string;
  readonly machine: MachineFacts;
  readonly minutes: number;
  readonly lines: readonly FigureLine[];
  readonly plots: readonly string[];
  readonly notes: readonly string[];
  /** All runs of each figure, and of the baseline named at its end. */
  readonly values: Readonly<
    Record<string, { readonly figure: readonly number[]; readonly baseline: readonly number[] }>
  >;
}

const RAW = "raw";
const PLOTS = "plots";

/** Stores a bench's figures and plots under `directory`. */
export async function storeResult(
  directory: string,
  { name, title, command }: Bench,
  result: BenchResult,
  about: { machine: MachineFacts; minutes: number },
): Promise<StoredResult> {
  await mkdir(join(directory, RAW), { recursive: true });
  await mkdir(join(directory, PLOTS), { recursive: true });
  const plots = result.plots ?? [];
  for (const plot of plots) await writeFile(join(directory, PLOTS, `${plot.name}.svg`), drawLinePlot(plot));
  const stored: StoredResult = {
    name,
    title,
    ...(command === undefined ? {} : { command }),
    ...about,
    lines: result.figures.map(summarizeFigure),
    plots: plots.map((plot) => plot.name),
    notes: result.notes ?? [],
    values: Object.fromEntries(
      result.figures.map(({ what, values, baseline }) => [
        baseline === undefined ? what : `${what} / ${baseline.name}`,
        { figure: values.map(rounded), baseline: (baseline?.values ?? []).map(rounded) },
      ]),
    ),
  };
  await writeFile(join(directory, RAW, `${name}.json`), `${JSON.stringify(stored, null, 1)}\n`);
  return stored;
}

/** Writes RESULTS.md from the stored figures, in the order of `names`. */
export async function writeResults(directory: string, names: readonly string[]): Promise<string> {
  const files = new Set(await readdir(join(directory, RAW)));
  for (const file of files) {
    if (!names.includes(file.replace(/\.json$/, ""))) await rm(join(directory, RAW, file));
  }
  const stored: StoredResult[] = [];
  for (const name of names.filter((name) => files.has(`${name}.json`))) {
    stored.push(JSON.parse(await readFile(join(directory, RAW, `${name}.json`), "utf8")) as StoredResult);
  }
  const text = describeResults(stored);
  await writeFile(join(directory, "RESULTS.md"), text);
  return text;
}

function describeResults(stored: readonly StoredResult[]): string {
  const budgets = stored.flatMap(({ lines }) => lines.filter(({ budget }) => budget !== null));
  return [
    "# Benchmark results",
    "",
    "Written by `npm run bench`. A result is the median of its runs, with the lowest and the highest in parentheses. A ratio is the median of the ratios to the baseline of the same round. [README.md](README.md) describes the method.",
    "",
    'The column "Limit" is for budgets that are not met. It is the best possible result on these cores: the sum of the parts that every coordinator needs, each measured in the same runs. The rest of the result is work of Atoll\'s code. Rows "Limit" of the sections show whether the main thread is always busy, waits for a core, or waits for something else.',
    "",
    ...describeMachines(stored),
    "",
    "## Budgets",
    "",
    ...table(budgets, true),
    "",
    "The soak test has its own script: `npm run bench:soak -- --minutes 30`.",
    ...stored.flatMap(describeBench),
    "",
  ].join("\n");
}

function describeMachines(stored: readonly StoredResult[]): string[] {
  const lines = stored.map(({ name, machine }) => {
    const { cpu, cores, memoryGb, system, node, commit, isBuilt, date, load } = machine;
    return {
      name,
      line: `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node.js ${node}, commit ${commit} (${isBuilt ? "built" : "from sources"}), ${date}`,
      load,
    };
  });
  const distinct = [...new Set(lines.map(({ line }) => line))];
  return distinct.map((line) => {
    const own = lines.filter((each) => each.line === line);
    const names = distinct.length === 1 ? "" : ` (${own.map(({ name }) => name).join(", ")})`;
    const loads = own.map(({ load }) => load);
    return `- ${line}; load before: ${Math.min(...loads)} to ${Math.max(...loads)}${names}`;
  });
}

function describeBench({ title, name, command, lines, plots, notes, minutes }: StoredResult): string[] {
  // A bench with a separate command runs once: its values are its samples.
  const how = command ?? `npm run bench -- --only ${name}`;
  const runs = command === undefined ? describeRuns(lines) : "1 run";
  return [
    "",
    `## ${title}`,
    "",
    `\`${how}\`, ${runs}, ${formatNumber(minutes)} minutes.`,
    "",
    ...table(lines, false),
    ...notes.flatMap((note) => ["", note]),
    ...plots.flatMap((plot) => ["", `![${plot}](plots/${plot}.svg)`]),
  ];
}

function describeRuns(lines: readonly FigureLine[]): string {
  const runs = Math.max(...lines.map(({ figure }) => figure.runs));
  return runs === 1 ? "1 run" : `${runs} runs`;
}

function table(lines: readonly FigureLine[], withBudget: boolean): string[] {
  const heads = ["What", "Figure", "Baseline", "Ratio", ...(withBudget ? ["Budget", "Met", "Limit"] : [])];
  return [
    `| ${heads.join(" | ")} |`,
    `|${heads.map(() => "---|").join("")}`,
    ...lines.map(({ what, unit, figure, baseline, ratio, budget }) => {
      const base = baseline === null ? "" : `${baseline.name}: ${describeSummary(baseline, unit)}`;
      const cells = [what, describeSummary(figure, unit), base, ratio === null ? "" : formatNumber(ratio)];
      const limit = budget?.isMet === true ? undefined : budget?.limit;
      const allowed = limit === undefined ? "" : `${limit.name}: ${describeSummary(limit, unit)}`;
      const isMet = budget?.isMet === true ? "yes" : "**no**";
      const ofBudget = withBudget ? [budget?.text ?? "", isMet, allowed] : [];
      return `| ${[...cells, ...ofBudget].join(" | ")} |`;
    }),
  ];
}

function describeSummary({ median, min, max, runs }: Summary, unit: string): string {
  const spread = runs === 1 ? "" : ` (${formatNumber(min)}–${formatNumber(max)})`;
  return `${formatNumber(median)}${unit.startsWith("/") ? "" : " "}${unit}${spread}`;
}

const rounded = (value: number): number => Number(value.toPrecision(5));
