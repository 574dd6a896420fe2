import type { PreTrainedModel, TextStreamer } from "@huggingface/transformers";
import type { FinishReason } from "../../../../shared/output.ts";

/** Counts the tokens of one generated text, or of several texts that form one (the windows of a long recording). */
export class TokenCounter {
  readonly #endTokens: ReadonlySet<number>;
  readonly #isEndForced: boolean;
  readonly #limit: number;
  /** Whether the text has started. The first call for each text contains the tokens that the model starts from. */
  #hasStarted = false;
  #written = 0;
  #isEnded = false;
  #tokens = 0;
  #isCut = false;

  /** @param limit maximum number of tokens of one text, its end token included. */
  constructor(model: PreTrainedModel, limit: number) {
    const { end, isForced } = endTokensOf(model);
    this.#endTokens = new Set(end);
    this.#isEndForced = isForced;
    this.#limit = limit;
  }

  /** Number of tokens without end tokens. */
  get tokens(): number {
    return this.#tokens;
  }

  get finishReason(): FinishReason {
    return this.#isCut ? "length" : "stop";
  }

  /** Streamer for `generate()`, which calls only `put` and `end`, although its type requires more. */
  get streamer(): TextStreamer {
    return this as unknown as TextStreamer;
  }

  put(batch: bigint[][]): void {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      return;
    }
    const token = Number(batch[0]?.at(-1));
    this.#written += 1;
    this.#isEnded = this.#endTokens.has(token);
    if (!this.#isEnded) this.#tokens += 1;
  }

  end(): void {
    // Some models, such as BART, are forced to write their end token at the limit.
    if (!this.#isEnded || (this.#isEndForced && this.#written >= this.#limit)) this.#isCut = true;
    this.#hasStarted = false;
    this.#written = 0;
    this.#isEnded = false;
  }
}

interface EndTokens {
  readonly eos_token_id?: number | number[] | null;
  readonly forced_eos_token_id?: number | null;
}

function endTokensOf({ config, generation_config: own }: PreTrainedModel): { end: number[]; isForced: boolean } {
  const ends = [own, config].filter((each) => each !== null) as EndTokens[];
  const end = ends.find(({ eos_token_id: id }) => id !== undefined && id !== null)?.eos_token_id ?? [];
  return { end: [end].flat(), isForced: ends.some(({ forced_eos_token_id: id }) => typeof id === "number") };
}
