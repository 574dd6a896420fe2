import { systemClock } from "../../shared/clock.ts";
import type { OutputItem } from "../../shared/output.ts";
import type { CargoRuntime, LoadedCargo, RunRequest, RunResult } from "../../island-agent/runtimes/runtime.ts";

/** Returns a prompt for {@link WordRuntime} that specifies the number of words and their interval. */
export const wordsPrompt = (words: number, everyMs: number): string => `${words} words every ${everyMs} ms`;

/** Returns the expected output, in which each word is unique. */
export const wordsText = (words: number): string => Array.from({ length: words }, (_, index) => wordAt(index)).join("");

const wordAt = (index: number): string => `${index} `;

/** Outputs counted words at the interval that the prompt specifies. Resumes after the words of earlier attempts. */
export class WordRuntime implements CargoRuntime {
  readonly type = "llmcpp" as const;
  /** Prompts of started runs, to detect repeated runs. */
  readonly begun: string[] = [];

  async probe(): Promise<{ usable: true; version: string }> {
    return { usable: true, version: "words" };
  }

  async load(): Promise<LoadedCargo> {
    return {
      memory: null,
      concurrency: 100,
      gone: new Promise(() => undefined),
      run: (request, onOutput, signal) => this.#run(request, onOutput, signal),
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  async #run(
    { input, resume }: RunRequest,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
  ): Promise<RunResult> {
    const prompt = promptOf(input);
    const [words, everyMs] = (prompt.match(/\d+/g) ?? []).map(Number);
    if (words === undefined || everyMs === undefined)
      throw new Error(`The prompt "${prompt}" is not from wordsPrompt()`);
    this.begun.push(prompt);
    for (let index = resume?.tokens ?? 0; index < words; index += 1) {
      await systemClock.sleep(everyMs, signal);
      onOutput({ type: "token", content: wordAt(index), count: 1 });
    }
    return { finishReason: "stop", usage: { promptTokens: 1, completionTokens: words } };
  }
}

/** Returns the prompt of a job or chat. */
function promptOf(input: Readonly<Record<string, unknown>>): string {
  if (typeof input["prompt"] === "string") return input["prompt"];
  const messages = input["messages"] as readonly { readonly content: string }[];
  return messages.at(-1)?.content ?? "";
}
