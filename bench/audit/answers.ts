import { join } from "node:path";
import type { HostedCargo } from "../../island-agent/runtimes/host/hosted-cargo.ts";
import { drawPositions } from "../../coordinator/audits/reading.ts";
import { llmcppRuntime } from "../../island-agent/runtimes/llmcpp/llmcpp-runtime.ts";
import type { ChatRead } from "../../shared/chat-reading.ts";
import { systemClock } from "../../shared/clock.ts";
import type { JsonValue } from "../../shared/json-value.ts";

/** Generates honest and false answers with the demo model in the agent's host process, and reads them there. */

const DEMO_MODEL = join(import.meta.dirname, "../../catalog/models/tiny-islander.gguf");
const SEQUENCES = 4;
const MAX_TOKENS = 100;
const NEVER = new AbortController().signal;

export type Input = Readonly<Record<string, unknown>>;
export interface Answer {
  readonly text: string;
  readonly hasEnd: boolean;
}
export interface ReadAnswer {
  readonly kind: string;
  readonly input: Input;
  readonly read: ChatRead;
  readonly output: JsonValue;
}

/** Makes a false answer to the nth prompt; null if it would be the honest one. */
type Lie = (prompt: string, index: number, honest: Answer, model: Writer) => Promise<Answer> | Answer | null;

const SUBJECTS = ["turtle", "boat", "storm", "cat", "whale", "crab", "lighthouse", "gull"];
const MADE_UP = "reef sand blue of and the gull rope tide seven lamp Kite paper moon output job is to".split(" ");
const CANNED = "I am sorry, but I cannot help you with that. Please ask me something else.";

/** Jobs whose answers are honest. All parameters that are not given have the defaults of llama.cpp: top_k 40, top_p 0.95. */
export const HONEST: readonly (readonly [kind: string, Input])[] = [
  ["honest, temperature 0", { temperature: 0 }],
  ["honest, 0.3", { temperature: 0.3 }],
  ["honest, 0.8", { temperature: 0.8 }],
  ["honest, 1", { temperature: 1 }],
  ["honest, 1.2", { temperature: 1.2 }],
  ["honest, 0.8, top_p 0.9", { temperature: 0.8, top_p: 0.9, top_k: 0 }],
  ["honest, 0.8, top_k 40, top_p 1", { temperature: 0.8, top_k: 40, top_p: 1 }],
  ["honest, 0.8, min_p 0.05", { temperature: 0.8, top_k: 0, top_p: 1, min_p: 0.05 }],
  ["honest, 1, untruncated", { temperature: 1, top_k: 0, top_p: 1 }],
];

export const LIES: readonly (readonly [kind: string, Lie])[] = [
  ["one character", () => ({ text: "a", hasEnd: true })],
  ["one no-break space", () => ({ text: "\u00A0", hasEnd: true })],
  ["two tokens", (_, __, { text }) => ({ text: words(text, 2), hasEnd: true })],
  ["first three words", (_, __, { text }) => ({ text: words(text, 3), hasEnd: true })],
  ["canned text", () => ({ text: CANNED, hasEnd: true })],
  ["echo of the prompt", (prompt) => ({ text: prompt, hasEnd: true })],
  ["random words", (_, index) => ({ text: randomWords(index), hasEnd: true })],
  ["answer to another prompt", (_, index, __, model) => model.write(otherThan(index), { temperature: 0.8 })],
  [
    "answer to a similar prompt",
    (_, index, __, model) => {
      const similar = similarTo(index);
      return similar === null ? null : model.write(similar, { temperature: 0.8 });
    },
  ],
  ["cut in the middle as stop", (_, __, { text }) => ({ text: text.slice(0, text.length / 2), hasEnd: true })],
  ["one number changed", (_, __, { text, hasEnd }) => (/\d/.test(text) ? { text: changeNumber(text), hasEnd } : null)],
  ["replay of an earlier answer", (prompt, _, __, model) => model.write(prompt, { temperature: 0.8, seed: 1 })],
  ["greedy", (prompt, _, __, model) => model.write(prompt, { temperature: 0 })],
  ["temperature 1.5", (prompt, _, __, model) => model.write(prompt, { temperature: 1.5 })],
];

const FORMS: readonly (readonly [topic: string, prompt: (index: number) => string])[] = [
  ["story", (index) => `Tell me a story about a ${subjectOf(index)}.`],
  ["count", (index) => `Count from ${index % 7} to ${(index % 7) + 9}.`],
  ["sum", (index) => `What is ${index % 9} plus ${(index * 3) % 10}?`],
  ["story", (index) => `Tell me a story about a ${subjectOf(index)} and an island.`],
  ["Cargo", () => "What is a Cargo?"],
  ["story", (index) => `Write a short story about a ${subjectOf(index)}.`],
];
const formOf = (index: number) => FORMS[index % FORMS.length] as (typeof FORMS)[number];
const subjectOf = (index: number): string => SUBJECTS[index % SUBJECTS.length] ?? "";

/** Returns the nth prompt. Half of the answers of the demo model are stories of 80 tokens, the others are shorter. */
function promptOf(index: number): string {
  return formOf(index)[1](index);
}

/** Returns the next prompt about another topic. */
function otherThan(index: number): string {
  for (let next = index + 1; ; next += 1) if (formOf(next)[0] !== formOf(index)[0]) return promptOf(next);
}

/** Returns the next different prompt about the same topic; null if all are the same. */
function similarTo(index: number): string | null {
  for (let next = index + 1; next < index + 100; next += 1) {
    if (formOf(next)[0] === formOf(index)[0] && promptOf(next) !== promptOf(index)) return promptOf(next);
  }
  return null;
}

function words(text: string, count: number): string {
  return text.split(" ").slice(0, count).join(" ");
}

function changeNumber(text: string): string {
  return text.replace(/\d+/, (digits) => String(Number(digits) + 3));
}

function randomWords(index: number): string {
  return Array.from({ length: 24 }, (_, at) => MADE_UP[(index * 7 + at * at * 5 + at) % MADE_UP.length]).join(" ");
}

/** A model as an Island loads it. */
export class Writer implements AsyncDisposable {
  readonly #cargo: HostedCargo;

  constructor(cargo: HostedCargo) {
    this.#cargo = cargo;
  }

  static async open(file = DEMO_MODEL): Promise<Writer> {
    const runtime = llmcppRuntime({ threads: 1, gpu: false, sequences: SEQUENCES, clock: systemClock });
    const cargo = {
      slug: "tiny-chat",
      runtimeType: "llmcpp" as const,
      onnxTaskType: null,
      model: null,
      requiredRamBytes: 0,
      requiredVramBytes: 0,
      contextTokens: 512,
    };
    return new Writer(await runtime.load(cargo, file, NEVER));
  }

  async write(prompt: string, sampling: Input): Promise<Answer> {
    let text = "";
    const input = { prompt, max_tokens: MAX_TOKENS, ...sampling };
    const { finishReason } = await this.#cargo.run(
      { input, resume: null },
      (item) => (text += item.type === "token" ? item.content : ""),
      NEVER,
    );
    return { text, hasEnd: finishReason === "stop" };
  }

  async read(input: Input, read: ChatRead): Promise<JsonValue> {
    const { output } = await this.#cargo.run({ input: { ...input, read }, resume: null }, () => undefined, NEVER);
    if (output === undefined) throw new Error("A reading has no output");
    return output;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#cargo[Symbol.asyncDispose]();
  }
}

/** Runs a job for each index below `count`, as many at a time as a model has sequences. */
export async function runEach(count: number, job: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: SEQUENCES }, work));
}

/** Generates and reads `answers` answers of each kind. Lies pretend to be answers at temperature 0.8, and at 0. */
export async function readAnswers(answers: number, positions: number): Promise<ReadAnswer[]> {
  await using model = await Writer.open();
  const all: ReadAnswer[] = [];
  const readOne = async (kind: string, input: Input, { text, hasEnd }: Answer): Promise<void> => {
    if (text === "" && !hasEnd) return;
    const read = { text, has_end: hasEnd, at: drawPositions(positions, Math.random) };
    all.push({ kind, input, read, output: await model.read(input, read) });
  };
  const each = (job: (index: number) => Promise<unknown>): Promise<void> => runEach(answers, job);
  for (const [kind, sampling] of HONEST) {
    console.error(kind);
    await each(async (index) => {
      const prompt = promptOf(index);
      await readOne(kind, { prompt, ...sampling }, await model.write(prompt, sampling));
    });
  }
  for (const temperature of [0.8, 0]) {
    for (const [kind, lie] of LIES) {
      if (temperature === 0 && kind === "greedy") continue;
      console.error(kind, temperature);
      await each(async (index) => {
        const prompt = promptOf(index);
        const honest = await model.write(prompt, { temperature });
        const answer = await lie(prompt, index, honest, model);
        if (answer !== null) await readOne(`${kind} (${temperature})`, { prompt, temperature }, answer);
      });
    }
  }
  return all;
}
