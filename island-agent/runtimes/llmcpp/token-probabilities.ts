import type { LlamaModel, Token } from "node-llama-cpp";
import { MAX_PROBABLE_CHARS, MAX_PROBABLE_TOKENS, type TokenProbability } from "../../../shared/token-probability.ts";
import type { LogitReader, TokenLogits } from "./logit-reader.ts";
import { bytesOfToken } from "./token-bytes.ts";

/** Number of preceding tokens that a token's text may depend on, as in `generate-text.ts`. */
const PRECEDING_TOKENS = 3;

/**
 * Tracks the probabilities of one completion's tokens. They are read as each token is sampled, kept in order once the
 * token belongs to the completion, and taken with its text.
 */
export class TokenProbabilities {
  readonly #model: LlamaModel;
  readonly #reader: LogitReader;
  readonly #topCount: number;
  #sampled: TokenLogits[] = [];
  /** One entry for each token of the completion that was not taken yet; null for a token without probabilities. */
  #kept: (TokenProbability | null)[] = [];
  #before: readonly Token[];

  constructor(model: LlamaModel, reader: LogitReader, topCount: number, prompt: readonly Token[]) {
    this.#model = model;
    this.#reader = reader;
    this.#topCount = topCount;
    this.#before = prompt.slice(-PRECEDING_TOKENS);
  }

  /** Returns the sampled token for a result of the current batch, after its probabilities were read. */
  async follow(batchIndex: number, sampled: Promise<unknown>): Promise<unknown> {
    const token = await sampled;
    if (typeof token === "number" && token >= 0) {
      this.#sampled.push(await this.#reader.read(batchIndex, token as Token, this.#topCount));
    }
    return token;
  }

  /** Keeps the next tokens of the completion, in order. Other sampled tokens, such as an end token, are dropped. */
  keep(tokens: readonly Token[]): void {
    for (const token of tokens) {
      const at = this.#sampled.findIndex((each) => each.token === token);
      const logits = at === -1 ? undefined : this.#sampled[at];
      if (at !== -1) this.#sampled = this.#sampled.slice(at + 1);
      this.#kept.push(logits === undefined ? null : this.#probabilityOf(logits));
      this.#before = [...this.#before, token].slice(-PRECEDING_TOKENS);
    }
  }

  /** Returns the next `count` tokens, limited to a text of `chars` characters if the text was cut. */
  take(count: number, chars: number): TokenProbability[] {
    const taken = this.#kept.splice(0, count).filter((each) => each !== null);
    let length = 0;
    const shown = taken.filter(({ token }) => (length += token.length) - token.length < chars);
    return shown.slice(-MAX_PROBABLE_TOKENS);
  }

  #probabilityOf({ token, logprob, top }: TokenLogits): TokenProbability {
    return { ...this.#named(token), logprob, top: top.map((each) => ({ ...each, ...this.#named(each.token) })) };
  }

  #named(token: Token): Pick<TokenProbability, "token" | "bytes"> {
    const text = this.#model.detokenize([token], true, this.#before).slice(0, MAX_PROBABLE_CHARS);
    const bytes = text.includes("\uFFFD") ? bytesOfToken(this.#model, token) : null;
    return bytes === null ? { token: text } : { token: text, bytes };
  }
}
