import type { LlamaModel, Token } from "node-llama-cpp";
import { MAX_PROBABLE_CHARS, MAX_PROBABLE_TOKENS, type TokenProbability } from "../../../shared/token-probability.ts";
import type { LogitReader, TokenLogits } from "./logit-reader.ts";
import { bytesOfToken } from "./token-bytes.ts";

/** Tokens before a token that its text may depend on, as in `generate-text.ts`. */
const TOKENS_BEFORE = 3;

/**
 * The probabilities of one answer's tokens on their way: read as each token is sampled, kept in order once it is known to be one of the
 * answer, and taken with the text that it became.
 */
export class TokenProbabilities {
  readonly #model: LlamaModel;
  readonly #reader: LogitReader;
  readonly #topCount: number;
  #sampled: TokenLogits[] = [];
  /** One for each token of the answer that was not taken yet; null for one that nothing is known of. */
  #kept: (TokenProbability | null)[] = [];
  #before: readonly Token[];

  constructor(model: LlamaModel, reader: LogitReader, topCount: number, prompt: readonly Token[]) {
    this.#model = model;
    this.#reader = reader;
    this.#topCount = topCount;
    this.#before = prompt.slice(-TOKENS_BEFORE);
  }

  /** Passes on what a sampler gives for a result of the present batch, once its probabilities are read. */
  async follow(batchIndex: number, sampled: Promise<unknown>): Promise<unknown> {
    const token = await sampled;
    if (typeof token === "number" && token >= 0) {
      this.#sampled.push(await this.#reader.read(batchIndex, token as Token, this.#topCount));
    }
    return token;
  }

  /** The next tokens of the answer, in order. Tokens that were sampled and are not among them, such as one that ends it, are left out. */
  keep(tokens: readonly Token[]): void {
    for (const token of tokens) {
      const at = this.#sampled.findIndex((each) => each.token === token);
      const logits = at === -1 ? undefined : this.#sampled[at];
      if (at !== -1) this.#sampled = this.#sampled.slice(at + 1);
      this.#kept.push(logits === undefined ? null : this.#told(logits));
      this.#before = [...this.#before, token].slice(-TOKENS_BEFORE);
    }
  }

  /** Of the next tokens, as many as `count`; at most as long as a text of `chars` characters, for one that was cut. */
  take(count: number, chars: number): TokenProbability[] {
    const taken = this.#kept.splice(0, count).filter((each) => each !== null);
    let length = 0;
    const shown = taken.filter(({ token }) => (length += token.length) - token.length < chars);
    return shown.slice(-MAX_PROBABLE_TOKENS);
  }

  #told({ token, logprob, top }: TokenLogits): TokenProbability {
    return { ...this.#named(token), logprob, top: top.map((each) => ({ ...each, ...this.#named(each.token) })) };
  }

  #named(token: Token): Pick<TokenProbability, "token" | "bytes"> {
    const text = this.#model.detokenize([token], true, this.#before).slice(0, MAX_PROBABLE_CHARS);
    const bytes = text.includes("\uFFFD") ? bytesOfToken(this.#model, token) : null;
    return bytes === null ? { token: text } : { token: text, bytes };
  }
}
