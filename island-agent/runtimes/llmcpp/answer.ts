import type { FinishReason, OutputItem } from "../../../shared/output.ts";
import { type Piece, StopFilter } from "./stop-filter.ts";
import type { TokenProbabilities } from "./token-probabilities.ts";

/** Without what the answer knows of it. */
type CallPart = Omit<Extract<OutputItem, { type: "tool_call" }>, "type" | "count">;

/**
 * One answer while the model generates it: each piece of text goes out with the number of tokens behind it. Every generated token
 * counts, including those of thoughts and of a stop sequence; only the token that ends the answer (EOG) does not.
 */
export class Answer {
  readonly #filter: StopFilter;
  readonly #onOutput: (item: OutputItem) => void;
  readonly #signal: AbortSignal;
  readonly #probabilities: Pick<TokenProbabilities, "take"> | null;
  readonly #emitsReasoning: boolean;
  #tokens = 0;
  #undelivered = 0;
  /** Those among the undelivered whose text is never delivered. */
  #hidden = 0;

  /**
   * @param probabilities Of its tokens, if they are told; one for each token that it takes.
   * @param emitsReasoning Otherwise the tokens of thoughts are counted with the next text.
   */
  constructor(
    stops: readonly string[],
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
    probabilities: Pick<TokenProbabilities, "take"> | null = null,
    emitsReasoning = false,
  ) {
    this.#filter = new StopFilter(stops);
    this.#onOutput = onOutput;
    this.#signal = signal;
    this.#probabilities = probabilities;
    this.#emitsReasoning = emitsReasoning;
  }

  /** Tokens generated so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /** The stop sequence that ended it; null for none. */
  get stop(): string | null {
    return this.#filter.stop;
  }

  /** The run is aborted, or a stop sequence has come: nothing more is wanted. */
  get isOver(): boolean {
    return this.#signal.aborted || this.#filter.isStopped;
  }

  /** Takes the next text, and the number of tokens behind it. Must not throw: LlamaChat, which calls it, swallows errors. */
  take(text: string, tokens: number): void {
    if (this.isOver) return;
    this.#tokens += tokens;
    this.#deliver(this.#filter.push({ text, count: tokens }));
  }

  /** Takes a part of the model's thoughts, in which no stop sequence counts. Text that was held back comes before it. */
  think(text: string, tokens: number): void {
    if (this.isOver) return;
    this.#deliver(this.#filter.end());
    this.#tokens += tokens;
    this.#probabilities?.take(this.#undelivered + tokens, 0);
    [this.#undelivered, this.#hidden] = [0, this.#takeUndelivered()];
    if (this.#emitsReasoning && text !== "") this.#onOutput({ type: "reasoning", content: text, count: tokens });
    else this.#hidden += tokens;
  }

  /** Takes a part of a call of a tool. Text that was held back comes before it. */
  takeCall(part: CallPart, tokens: number): void {
    if (this.isOver) return;
    this.#deliver(this.#filter.end());
    this.#tokens += tokens;
    this.#probabilities?.take(this.#undelivered + tokens, 0);
    this.#onOutput({ type: "tool_call", ...part, count: this.#takeUndelivered() + tokens });
  }

  /** Waits for what generates the answer. @throws `signal.reason` when aborted, otherwise what `generation` throws. */
  async end(generation: Promise<FinishReason>): Promise<FinishReason> {
    const finishReason = await generation;
    this.#signal.throwIfAborted();
    this.#deliver(this.#filter.end());
    return this.#filter.isStopped ? "stop" : finishReason;
  }

  #deliver(piece: Piece): void {
    const { text } = piece;
    this.#undelivered += piece.count;
    if (text === "") return;
    const logprobs = this.#probabilities?.take(this.#undelivered, this.#filter.isStopped ? text.length : Infinity);
    this.#onOutput({ type: "token", content: text, count: this.#takeUndelivered(), ...(logprobs && { logprobs }) });
  }

  #takeUndelivered(): number {
    const tokens = this.#undelivered + this.#hidden;
    [this.#undelivered, this.#hidden] = [0, 0];
    return tokens;
  }
}
