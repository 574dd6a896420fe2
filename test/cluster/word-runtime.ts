import { systemClock } from "../../shared/clock.ts";
import type { OutputItem } from "../../shared/output.ts";
import type { CargoRuntime, LoadedCargo, RunRequest, RunResult } from "../../island-agent/runtimes/runtime.ts";

/** A prompt for {@link WordRuntime}: so many words, one each `everyMs`. */
export const wordsPrompt = (words: number, everyMs: number): string => `${words} words every ${everyMs} ms`;

/** The only right answer to such a prompt: a gap or a repeat shows. */
export const wordsText = (words: number): string => Array.from({ length: words }, (_, index) => wordAt(index)).join("");

const wordAt = (index: number): string => `${index} `;

/** Counts aloud, as fast as the prompt says, from where an earlier attempt was. */
export class WordRuntime implements CargoRuntime {
  readonly type = "llmcpp" as const;
  /** Runs that began, by prompt: one that began twice ran twice. */
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
    if (words === undefined || everyMs === undefined) throw new Error(`"${prompt}" is no prompt of wordsPrompt()`);
    this.begun.push(prompt);
    for (let index = resume?.tokens ?? 0; index < words; index += 1) {
      await systemClock.sleep(everyMs, signal);
      onOutput({ type: "token", content: wordAt(index), count: 1 });
    }
    return { finishReason: "stop", usage: { promptTokens: 1, completionTokens: words } };
  }
}

/** Of a job or a chat. */
function promptOf(input: Readonly<Record<string, unknown>>): string {
  if (typeof input["prompt"] === "string") return input["prompt"];
  const messages = input["messages"] as readonly { readonly content: string }[];
  return messages.at(-1)?.content ?? "";
}
