import type { LlamaChatResponse, LlamaChatResponseChunk } from "node-llama-cpp";
import type { FinishReason, OutputItem } from "../../../shared/output.ts";
import { type Piece, StopFilter } from "./stop-filter.ts";

interface Hooks {
  readonly signal: AbortSignal;
  readonly stopOnAbortSignal: true;
  readonly onResponseChunk: (chunk: LlamaChatResponseChunk) => void;
}

/**
 * One answer as it is written: pieces go out with the number of tokens that made them. Every token that the model generated for the
 * answer counts, those of thoughts and of a stop sequence too; the token that ends the answer (EOG) does not.
 */
export class Answer {
  readonly #filter: StopFilter;
  readonly #onOutput: (item: OutputItem) => void;
  readonly #signal: AbortSignal;
  readonly #halt = new AbortController();
  #tokens = 0;
  #undelivered = 0;

  constructor(stops: readonly string[], onOutput: (item: OutputItem) => void, signal: AbortSignal) {
    this.#filter = new StopFilter(stops);
    this.#onOutput = onOutput;
    this.#signal = signal;
  }

  /** Tokens generated so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /** @throws `signal.reason` when aborted, else what `generate` throws. */
  async write(generate: (hooks: Hooks) => Promise<LlamaChatResponse>): Promise<FinishReason> {
    const signal = AbortSignal.any([this.#signal, this.#halt.signal]);
    const stopReason = await generate({
      signal,
      stopOnAbortSignal: true,
      onResponseChunk: (chunk) => this.#take(chunk),
    }).then(
      ({ metadata }) => metadata.stopReason,
      (error: unknown) => {
        // A stop sequence in the very first token: there is nothing yet that the library could resolve with.
        if (this.#filter.isStopped) return "customStopTrigger" as const;
        throw error;
      },
    );
    this.#signal.throwIfAborted();
    this.#deliver(this.#filter.end());
    return stopReason === "maxTokens" && !this.#filter.isStopped ? "length" : "stop";
  }

  /** Called by the library, which swallows what is thrown here. */
  #take(chunk: LlamaChatResponseChunk): void {
    if (this.#signal.aborted || this.#filter.isStopped) return;
    this.#tokens += chunk.tokens.length;
    // Thoughts are not shown; their tokens go out with the next text.
    const text = chunk.type === "segment" ? "" : chunk.text;
    this.#deliver(this.#filter.push({ text, count: chunk.tokens.length }));
    if (this.#filter.isStopped) this.#halt.abort();
  }

  #deliver({ text, count }: Piece): void {
    this.#undelivered += count;
    if (text === "") return;
    this.#onOutput({ type: "token", content: text, count: this.#undelivered });
    this.#undelivered = 0;
  }
}
