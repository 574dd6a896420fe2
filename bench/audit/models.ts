import { join } from "node:path";
import { parseArgs } from "node:util";
import { addReading, verdictOf } from "../../coordinator/audits/evidence.ts";
import { checkReading, drawPositions, type Score, scoreReading } from "../../coordinator/audits/reading.ts";
import { NO_EVIDENCE } from "../../coordinator/credits/standing.ts";
import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import type { ChatReading } from "../../shared/chat-reading.ts";
import { Random } from "../../test/support/random.ts";
import { RESULT_NAMES } from "../benches.ts";
import type { BenchResult } from "../harness/bench.ts";
import { formatNumber } from "../harness/format-number.ts";
import type { LinePlot } from "../harness/line-plot.ts";
import { writeResults } from "../harness/results.ts";
import { runBench } from "../harness/run-bench.ts";
import { runEach, Writer } from "./answers.ts";

/*
 * Measures how many audited tokens it takes to find an Island that serves another model than its Cargo names. Each
 * `--model NAME=FILE` and the demo model write answers, and the demo model reads them. catalog/recipes/tiny-islander
 * makes the models. Writes RESULTS.md.
 */

const TEMPERATURES = [0, 0.8, 1];
const POSITIONS = 24;
/** Simulated Islands of each kind. Each draws its readings at random, with repetition. */
const ISLANDS = 400;
const MAX_TOKENS = 102_400;
const PLOTTED_TOKENS = Array.from({ length: 13 }, (_, doublings) => 25 * 2 ** doublings);
const HONEST = "honest";
const ANIMALS = "fox whale crab gull seal turtle goat dolphin pelican cat dog mouse heron parrot lizard bear".split(
  " ",
);
const TRAITS = "small brave quiet clever happy shy kind lonely curious tired bright patient gentle".split(" ");

interface Judged {
  readonly score: Score;
  /** Number of tokens that were read. */
  readonly tokens: number;
  /** Sum over these tokens of the writer's log probability minus that of the demo model, in nats. */
  readonly divergence: number;
}

/** Answers of one model at one temperature. */
interface Kind {
  readonly name: string;
  readonly temperature: number;
  readonly judged: readonly Judged[];
  /** Tokens that were read until each Island was found; Infinity for none. */
  readonly found: readonly number[];
}

/** Returns the nth prompt. Half of the answers are stories of 80 tokens, the others are sums and counts. */
function promptOf(index: number): string {
  const half = Math.floor(index / 2);
  const quarter = Math.floor(half / 2);
  if (index % 2 === 0) {
    const trait = TRAITS[half % TRAITS.length] ?? "";
    return `Tell me a story about a ${trait} ${ANIMALS[half % ANIMALS.length] ?? ""}.`;
  }
  if (half % 2 === 0) return `What is ${quarter % 21} plus ${(3 * quarter) % 20}?`;
  return `Count from ${quarter % 31} to ${(quarter % 31) + 2 + (quarter % 11)}.`;
}

/** Lets a model write answers, at all temperatures. The demo model reads them. @param file undefined for the demo model */
async function judgeAnswers(name: string, file: string | undefined, answers: number): Promise<Kind[]> {
  await using reader = await Writer.open();
  await using writer = await Writer.open(file);
  const kinds: Kind[] = [];
  for (const temperature of TEMPERATURES) {
    console.log(`  ${name}, temperature ${temperature}`);
    const judged: Judged[] = [];
    await runEach(answers, async (index) => {
      const input = { prompt: promptOf(index), temperature };
      const { text, hasEnd } = await writer.write(input.prompt, input);
      if (text === "") return;
      const read = { text, has_end: hasEnd, at: drawPositions(POSITIONS, Math.random) };
      const [reading, own] = [await reader.read(input, read), await writer.read(input, read)].map((output) => {
        return checkedOf(checkReading(output, read), name);
      }) as [ChatReading, ChatReading];
      judged.push({
        score: scoreReading(reading, chatRequestOf(chatInputSchema.parse(input)), hasEnd),
        tokens: reading.positions.length,
        divergence: logprobOf(own) - logprobOf(reading),
      });
    });
    const random = new Random(1);
    const found = Array.from({ length: ISLANDS }, () => tokensUntilFound(judged, random));
    kinds.push({ name, temperature, judged, found });
  }
  return kinds;
}

function checkedOf(reading: ReturnType<typeof checkReading>, kind: string): ChatReading {
  if ("problem" in reading) throw new Error(`Invalid reading of ${kind}: ${reading.problem}`);
  return reading;
}

const logprobOf = ({ positions }: ChatReading): number => positions.reduce((sum, { logprob }) => sum + logprob, 0);

/** Returns the number of tokens that are read until an Island is inconsistent; Infinity if more are needed than are read. */
function tokensUntilFound(judged: readonly Judged[], random: Random): number {
  let evidence = NO_EVIDENCE;
  for (let tokens = 0; tokens < MAX_TOKENS;) {
    const { score, tokens: read } = random.pick(judged);
    tokens += read;
    evidence = addReading(evidence, score);
    if (verdictOf(evidence) === "inconsistent") return tokens;
  }
  return Infinity;
}

const shareWithin = ({ found }: Kind, tokens: number): number =>
  (100 * found.filter((each) => each <= tokens).length) / found.length;

function quantileOf(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * values.length)] ?? Number.NaN;
}

function rowOf(kind: Kind): string {
  const { name, temperature, judged, found } = kind;
  const tokens = judged.reduce((sum, each) => sum + each.tokens, 0);
  const quantiles = (values: readonly number[]): string =>
    [0.01, 0.5, 0.99].map((share) => quantileOf(values, share).toFixed(1)).join(" · ");
  const until = (share: number): string => {
    const most = quantileOf(found, share);
    return most === Infinity ? "not found" : formatNumber(most);
  };
  const cells = [
    name,
    String(temperature),
    (judged.reduce((sum, { divergence }) => sum + divergence, 0) / tokens).toFixed(3),
    quantiles(judged.map(({ score }) => score.z)),
    quantiles(judged.map(({ score }) => score.falseText)),
    quantiles(judged.map(({ score }) => score.changedText)),
    until(0.5),
    until(0.9),
  ];
  return `| ${cells.join(" | ")} |`;
}

function plotOf(kinds: readonly Kind[]): LinePlot {
  return {
    name: "audit-models",
    title: "Islands with another model that audits find, %",
    x: { label: "audited tokens", values: PLOTTED_TOKENS },
    panels: TEMPERATURES.map((temperature) => ({
      label: `temperature ${temperature}`,
      lines: kinds
        .filter((kind) => kind.temperature === temperature)
        .map((kind) => ({ name: kind.name, points: PLOTTED_TOKENS.map((tokens) => [shareWithin(kind, tokens)]) })),
    })),
  };
}

function describe(kinds: readonly Kind[]): BenchResult {
  const head = ["Writer", "Temperature", "Divergence", "z", "False text", "Changed text", "Half found", "90 % found"];
  return {
    figures: kinds.map((kind) => ({
      what: `Islands found within ${formatNumber(MAX_TOKENS)} audited tokens, ${kind.name}, temperature ${kind.temperature}`,
      unit: "%",
      values: [shareWithin(kind, MAX_TOKENS)],
    })),
    plots: [plotOf(kinds)],
    notes: [
      [`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`, ...kinds.map(rowOf)].join("\n"),
      `Divergence: mean log probability of the answers' tokens by the model that wrote them, minus that by the demo model, in nats per token. z, false text and changed text: p1 · p50 · p99 of a reading ([formulas](../docs/internals/audits.md#formulas)). Half and 90 % found: audited tokens after which this share of ${ISLANDS} simulated Islands is inconsistent. Each draws its readings at random, with repetition, from ${kinds[0]?.judged.length} measured ones.`,
    ],
  };
}

const { values } = parseArgs({
  options: {
    model: { type: "string", multiple: true, default: [] },
    answers: { type: "string", default: "400" },
  },
});
const bench = {
  name: "audit-models",
  title: "Audits of Islands with another model",
  command: "node bench/audit/models.ts",
  async run(): Promise<BenchResult> {
    const kinds = await judgeAnswers(HONEST, undefined, Number(values.answers));
    for (const model of values.model) {
      const [name = "", file = ""] = model.split("=");
      kinds.push(...(await judgeAnswers(name, file, Number(values.answers))));
    }
    return describe(kinds);
  },
};
const directory = join(import.meta.dirname, "..");
await runBench(directory, bench, { runs: 1, isQuick: false });
await writeResults(directory, RESULT_NAMES);
