import { call, type DemoClient } from "./demo-client.ts";
import { printTitle } from "./demo-scenes.ts";

interface EndedJob<Output> {
  readonly id: string;
  readonly status: string;
  readonly output: Output;
  readonly error: { readonly message: string } | null;
}

const LONG_POLL_S = 30;

/** Runs one job of each small shipped Cargo except the chat model, and prints the outputs. */
export async function runSmallCargos(client: DemoClient): Promise<void> {
  printTitle("Four more small Cargos: embeddings, a classifier, an image, a spoken word");
  const lines = await Promise.all([embed(client), classify(client), draw(client), listen(client)]);
  for (const line of lines) console.log(line);
}

async function embed(client: DemoClient): Promise<string> {
  const input = ["the atoll was built by corals", "the reef is made of coral", "a train is late"];
  const { embeddings } = await run<{ embeddings: readonly (readonly number[])[] }>(client, "tiny-embed", { input });
  const [first = [], ...others] = embeddings;
  const near = others.map((other) => other.reduce((sum, x, i) => sum + x * (first[i] ?? 0), 0).toFixed(2));
  return `embed    "${input[0]}": similarity ${near[0]} to "${input[1]}", ${near[1]} to "${input[2]}"`;
}

async function classify(client: DemoClient): Promise<string> {
  const text = "what a nice garden you have";
  const [best] = await run<readonly { label: string; score: number }[]>(client, "tiny-classify", { text });
  return `classify "${text}": ${best?.label} (${best?.score.toFixed(2)})`;
}

async function draw(client: DemoClient): Promise<string> {
  const prompt = "a red circle on blue";
  const { format, data } = await run<{ format: string; data: string }>(client, "tiny-picture", { prompt, seed: 7 });
  return `draw     "${prompt}": ${format}, ${Buffer.from(data, "base64").length} bytes`;
}

/** Runs the example of the speech Cargo, in which a voice says a word. */
async function listen(client: DemoClient): Promise<string> {
  const { example_input: example } = await call<{ example_input: object }>(client, "GET", "/cargos/tiny-speech");
  const { text } = await run<{ text: string }>(client, "tiny-speech", example);
  return `listen   a voice says "${text.trim()}"`;
}

/** Returns the output of a job. @throws if it does not complete. */
async function run<Output>(client: DemoClient, workload: string, input: object): Promise<Output> {
  const { id } = await call<{ id: string }>(client, "POST", "/jobs", { workload, input });
  const { status, output, error } = await call<EndedJob<Output>>(client, "GET", `/jobs/${id}?wait=${LONG_POLL_S}`);
  if (status !== "completed") throw new Error(`the job of ${workload} is ${status}: ${error?.message ?? ""}`);
  return output;
}
