import type { LlamaChatResponse, LlamaChatResponseChunk } from "node-llama-cpp";
import type { FinishReason, OutputItem } from "../../../shared/output.ts";
import { type Piece, StopFilter } from "./stop-filter.ts";

interface Hooks {
  readonly signal: AbortSignal;
  readonly stopOnAbortSignal: true;
  readonly onResponseChunk: (chunk: LlamaChatResponseChunk) => void;
}

/**
 * One answer while the model generates it: each piece of text goes out with the number of tokens behind it. Every generated token
 * counts, including those of thoughts and of a stop sequence; only the token that ends the answer (EOG) does not.
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

  /** @throws `signal.reason` when aborted, otherwise what `generate` throws. */
  async write(generate: (hooks: Hooks) => Promise<LlamaChatResponse>): Promise<FinishReason> {
    const signal = AbortSignal.any([this.#signal, this.#halt.signal]);
    const stopReason = await generate({
      signal,
      stopOnAbortSignal: true,
      onResponseChunk: (chunk) => this.#take(chunk),
    }).then(
      ({ metadata }) => metadata.stopReason,
      (error: unknown) => {
        // A stop sequence in the very first token: the library has no response to resolve with and rejects.
        if (this.#filter.isStopped) return "customStopTrigger" as const;
        throw error;
      },
    );
    this.#signal.throwIfAborted();
    this.#deliver(this.#filter.end());
    return stopReason === "maxTokens" && !this.#filter.isStopped ? "length" : "stop";
  }

  /** Must not throw: the library, which calls it, swallows errors. */
  #take(chunk: LlamaChatResponseChunk): void {
    if (this.#signal.aborted || this.#filter.isStopped) return;
    this.#tokens += chunk.tokens.length;
    // Thoughts are not shown; their tokens are counted with the next text.
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
