import type { PreTrainedModel, TextStreamer } from "@huggingface/transformers";
import type { FinishReason } from "../../../../shared/output.ts";

/** Counts the tokens of one generated text, or of several that make one (the windows of a long recording). */
export class TokenCount {
  readonly #endTokens: ReadonlySet<number>;
  readonly #isEndForced: boolean;
  readonly #limit: number;
  /** The first that comes of each text is what the model was given to begin with. */
  #isBegun = false;
  #written = 0;
  #isEnded = false;
  #tokens = 0;
  #isCut = false;

  /** @param limit most tokens of one text, its end token too. */
  constructor(model: PreTrainedModel, limit: number) {
    const { end, isForced } = endTokensOf(model);
    this.#endTokens = new Set(end);
    this.#isEndForced = isForced;
    this.#limit = limit;
  }

  /** Without those that end a text. */
  get tokens(): number {
    return this.#tokens;
  }

  get finishReason(): FinishReason {
    return this.#isCut ? "length" : "stop";
  }

  /** As `generate()` takes it: it calls `put` and `end` and nothing else, whatever its type asks for. */
  get streamer(): TextStreamer {
    return this as unknown as TextStreamer;
  }

  put(batch: bigint[][]): void {
    if (!this.#isBegun) {
      this.#isBegun = true;
      return;
    }
    const token = Number(batch[0]?.at(-1));
    this.#written += 1;
    this.#isEnded = this.#endTokens.has(token);
    if (!this.#isEnded) this.#tokens += 1;
  }

  end(): void {
    // Some models (BART) are made to write their end token last wherever the limit is.
    if (!this.#isEnded || (this.#isEndForced && this.#written >= this.#limit)) this.#isCut = true;
    this.#isBegun = false;
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
