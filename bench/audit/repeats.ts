import { join } from "node:path";
import { InferenceSession } from "onnxruntime-node";
import sharp, { type Sharp } from "sharp";
import { compareResults, LIKENESSES } from "../../coordinator/checks/likeness.ts";
import { decodePng } from "../../coordinator/checks/png-pixels.ts";
import { loadPipeline } from "../../island-agent/runtimes/diffusers/load-pipeline.ts";
import { loadTaskModel } from "../../island-agent/runtimes/onnx/task-model.ts";

/*
 * Measures what repeats of jobs find, with the shipped models of onnx and diffusers. Honest repeats run with another
 * number of threads, without graph optimizations, and with outputs of each graph that are rounded to the bits of half
 * precision and of bfloat16. Prints a Markdown table, which docs/internals/repeats.md contains.
 */

const MODELS = join(import.meta.dirname, "../../catalog/models");
const NEVER = new AbortController().signal;
const JOBS = 60;
const POOLED = { pooling: "mean", normalize: true };

interface Machine {
  readonly threads: number;
  readonly graphOptimizationLevel: "all" | "disabled";
  /** Bits of the significand to which outputs of graphs are rounded; null for no rounding. */
  readonly bits: number | null;
}
const USUAL: Machine = { threads: 1, graphOptimizationLevel: "all", bits: null };
const MACHINES: Readonly<Record<string, Machine>> = {
  "4 threads": { ...USUAL, threads: 4 },
  "without graph optimizations": { ...USUAL, graphOptimizationLevel: "disabled" },
  "outputs of graphs in half precision": { ...USUAL, bits: 11 },
  "outputs of graphs in bfloat16": { ...USUAL, bits: 8 },
};

let machine = USUAL;
type Create = (model: string | Uint8Array, options?: InferenceSession.SessionOptions) => Promise<InferenceSession>;
const { create } = InferenceSession as { create: Create };
Object.assign(InferenceSession, {
  create: async (model: string | Uint8Array, options: InferenceSession.SessionOptions = {}) => {
    const { threads: intraOpNumThreads, graphOptimizationLevel, bits } = machine;
    const session = await create.call(InferenceSession, model, {
      ...options,
      intraOpNumThreads,
      graphOptimizationLevel,
    });
    const run = session.run.bind(session);
    return Object.assign(session, {
      run: async (feeds: InferenceSession.FeedsType) => {
        const outputs = await run(feeds);
        if (bits !== null) for (const { data } of Object.values(outputs)) round(data, bits);
        return outputs;
      },
    });
  },
});

function round(data: unknown, bits: number): void {
  if (!(data instanceof Float32Array)) return;
  for (const [at, value] of data.entries()) {
    const unit = 2 ** (Math.floor(Math.log2(Math.abs(value) || 1)) - bits + 1);
    data[at] = Math.round(value / unit) * unit;
  }
}

type Runner = (input: Record<string, unknown>) => Promise<unknown>;

/** Loads a model of a kind on a machine. */
async function load(kind: "embed" | "classify" | "picture", on: Machine): Promise<Runner> {
  machine = on;
  const modelPath = join(MODELS, `tiny-${kind}`);
  const request = { modelPath, weights: "fp32", device: "cpu", threads: on.threads } as const;
  const watcher = { onPrompt: () => undefined, onWorking: () => undefined };
  if (kind === "picture") {
    const model = await loadPipeline(request);
    return async (job) => {
      const given = { job: job as never, resume: null, cacheKey: undefined };
      return (await model.run(given, () => undefined, NEVER, watcher)).output;
    };
  }
  const task = kind === "embed" ? "feature-extraction" : "text-classification";
  const model = await loadTaskModel({ ...request, task }, task);
  return async (job) => {
    const given = { job: job as never, resume: null, cacheKey: undefined };
    return (await model.run(given, () => undefined, NEVER, watcher)).output;
  };
}

const WORDS =
  "the reef was built by corals a garden has roses and trees my dog likes bread soup is good music rain falls on the sea train leaves the city at night a doctor helps children learn to play football".split(
    " ",
  );
let seed = 1;
function random(): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  return seed / 2 ** 31;
}
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const draw = (count: number): string => Array.from({ length: count }, () => pick(WORDS)).join(" ");

const SHAPES = ["circle", "square", "triangle", "diamond", "ring"];
const COLOURS = ["red", "blue", "green", "yellow", "white", "black", "orange", "purple"];
const prompt = (): string => `a ${pick(["small", "big"])} ${pick(SHAPES)}, ${pick(COLOURS)} on ${pick(COLOURS)}`;

interface Embeddings {
  readonly embeddings: readonly (readonly number[])[];
}
type Labels = readonly { readonly label: string; readonly score: number }[];
const decode = ({ data }: Picture) => decodePng(data, () => undefined);

interface Picture {
  readonly format: string;
  readonly data: string;
}

/** Returns the largest distance of two results, as `likeness.ts` measures it. */
function distanceOf(a: unknown, b: unknown): number {
  if (Array.isArray(a)) {
    const other = b as Labels;
    const scores = (a as Labels).map(({ label, score }) => {
      return Math.abs(score - (other.find((each) => each.label === label)?.score ?? 0));
    });
    return Math.max(...scores);
  }
  if ("embeddings" in (a as object)) {
    const [one, other] = [(a as Embeddings).embeddings, (b as Embeddings).embeddings];
    return Math.max(...one.map((vector, at) => Math.hypot(...vector.map((each, i) => each - (other[at]?.[i] ?? 0)))));
  }
  const one = decode(a as Picture);
  const other = decode(b as Picture);
  if (one === null || other === null) return Infinity;
  return one.bytes.reduce((sum, byte, at) => sum + Math.abs(byte - (other.bytes[at] ?? 0)), 0) / one.bytes.length;
}

function row(kind: string, pairs: readonly (readonly [unknown, unknown])[]): string {
  const distances = pairs.map(([a, b]) => distanceOf(a, b)).toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (distances[Math.floor(share * (distances.length - 1))] ?? 0)
      .toPrecision(2)
      .replace(/^0\.0{4,}.*|.*e-.*/, "< 0.0001");
  const likenesses = pairs.map(([a, b]) => {
    return compareResults({ output: a, text: "", images: [] }, { output: b, text: "", images: [] }, false);
  });
  const shares = LIKENESSES.map((likeness) => {
    const count = likenesses.filter((each) => each === likeness).length;
    return `${Math.round((100 * count) / pairs.length)} %`;
  });
  return `| ${[kind, [0, 0.5, 1].map(at).join(" · "), ...shares].join(" | ")} |`;
}

/** Returns a picture after some changes. */
async function changed(picture: Picture, ...changes: ((image: Sharp) => Sharp)[]): Promise<Picture> {
  let file = Buffer.from(picture.data, "base64");
  for (const change of changes) file = await change(sharp(file)).removeAlpha().png().toBuffer();
  return { format: "png", data: file.toString("base64") };
}

async function measure(
  kind: "embed" | "classify" | "picture",
  makeInput: () => Record<string, unknown>,
  liesOf: (input: Record<string, unknown>, answer: unknown, run: Runner) => Promise<Record<string, unknown>>,
): Promise<void> {
  const run = await load(kind, USUAL);
  const inputs = Array.from({ length: JOBS }, makeInput);
  const answers: unknown[] = [];
  for (const input of inputs) answers.push(await run(input));
  for (const [name, other] of Object.entries(MACHINES)) {
    const repeat = await load(kind, other);
    const pairs: [unknown, unknown][] = [];
    for (const [at, input] of inputs.entries()) pairs.push([answers[at], await repeat(input)]);
    console.log(row(`${kind}: honest, ${name}`, pairs));
  }
  const lies = new Map<string, [unknown, unknown][]>();
  for (const [at, input] of inputs.entries()) {
    for (const [name, lie] of Object.entries(await liesOf(input, answers[at], run))) {
      lies.set(name, [...(lies.get(name) ?? []), [lie, answers[at]]]);
    }
  }
  for (const [name, pairs] of lies) console.log(row(`${kind}: ${name}`, pairs));
}

console.log("| Result | Distance: least · median · most | Same | Unsure | Different |");
console.log("|---|---|---|---|---|");
await measure(
  "embed",
  () => ({ ...POOLED, input: [draw(8), draw(12)] }),
  async ({ input }, answer, run) => {
    const texts = input as readonly string[];
    const halves = texts.map((text) =>
      text
        .split(" ")
        .slice(0, text.split(" ").length / 2)
        .join(" "),
    );
    const oneWord = texts.map((text) => text.replace(/\S+$/, pick(WORDS)));
    return {
      "other texts": await run({ ...POOLED, input: [draw(8), draw(12)] }),
      "half of each text": await run({ ...POOLED, input: halves }),
      "the last word changed": await run({ ...POOLED, input: oneWord }),
      zeros: { embeddings: (answer as Embeddings).embeddings.map((vector) => vector.map(() => 0)) },
    };
  },
);
await measure(
  "classify",
  () => ({ text: draw(6), top_k: 10 }),
  async (_, answer, run) => {
    const labels = answer as Labels;
    const scores = labels.map(({ score }) => score);
    return {
      "another text": await run({ text: draw(6), top_k: 10 }),
      "labels exchanged": labels.map(({ label }, at) => ({ label, score: scores.at(-1 - at) ?? 0 })),
      "equal scores": labels.map(({ label }) => ({ label, score: 1 / labels.length })),
    };
  },
);
await measure(
  "picture",
  () => ({ prompt: prompt(), seed: Math.floor(random() * 1_000) }),
  async (input, answer, run) => ({
    "another prompt": await run({ ...input, prompt: prompt() }),
    "another seed": await run({ ...input, seed: Math.floor(random() * 1_000) }),
    "one step instead of four": await run({ ...input, steps: 1 }),
    "one colour": await changed(
      answer as Picture,
      (image) => image.resize(1, 1),
      (image) => image.resize(64, 64),
    ),
    blurred: await changed(answer as Picture, (image) => image.blur(4)),
  }),
);
