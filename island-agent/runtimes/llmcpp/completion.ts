import type { FinishReason, OutputItem } from "../../../shared/output.ts";
import { type Piece, StopFilter } from "./stop-filter.ts";
import type { TokenProbabilities } from "./token-probabilities.ts";

/** Part of a tool call, without the fields that the completion adds. */
type CallPart = Omit<Extract<OutputItem, { type: "tool_call" }>, "type" | "count">;

/**
 * One completion while the model generates it. Each text piece is delivered with its number of tokens. All generated
 * tokens count, including those of reasoning and of a stop sequence; only the end token (EOG) does not.
 */
export class Completion {
  readonly #filter: StopFilter;
  readonly #onOutput: (item: OutputItem) => void;
  readonly #signal: AbortSignal;
  readonly #probabilities: Pick<TokenProbabilities, "take"> | null;
  readonly #emitsReasoning: boolean;
  #tokens = 0;
  #undelivered = 0;
  /** Number of undelivered tokens whose text is never delivered. */
  #hidden = 0;

  /**
   * @param probabilities Probabilities of each token, if they are requested.
   * @param emitsReasoning If false, tokens of reasoning are counted with the next text.
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

  get tokens(): number {
    return this.#tokens;
  }

  /** Stop sequence that ended the completion; null if none did. */
  get stop(): string | null {
    return this.#filter.stop;
  }

  /** Whether the run has been aborted or a stop sequence was found. Further text is dropped. */
  get isOver(): boolean {
    return this.#signal.aborted || this.#filter.isStopped;
  }

  /** Adds text with its number of tokens. Must not throw: LlamaChat, which calls it, swallows errors. */
  take(text: string, tokens: number): void {
    if (this.isOver) return;
    this.#tokens += tokens;
    this.#deliver(this.#filter.push({ text, count: tokens }));
  }

  /** Adds a part of the model's reasoning, in which stop sequences are ignored. Delivers held-back text first. */
  think(text: string, tokens: number): void {
    if (this.isOver) return;
    this.#deliver(this.#filter.end());
    this.#tokens += tokens;
    this.#probabilities?.take(this.#undelivered + tokens, 0);
    [this.#undelivered, this.#hidden] = [0, this.#takeUndelivered()];
    if (this.#emitsReasoning && text !== "") this.#onOutput({ type: "reasoning", content: text, count: tokens });
    else this.#hidden += tokens;
  }

  /** Adds a part of a tool call. Delivers held-back text first. */
  takeCall(part: CallPart, tokens: number): void {
    if (this.isOver) return;
    this.#deliver(this.#filter.end());
    this.#tokens += tokens;
    this.#probabilities?.take(this.#undelivered + tokens, 0);
    this.#onOutput({ type: "tool_call", ...part, count: this.#takeUndelivered() + tokens });
  }

  /** Waits for the generation. @throws `signal.reason` when aborted, otherwise errors of `generation`. */
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
