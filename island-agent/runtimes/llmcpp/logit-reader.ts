import type { Llama, LlamaContext, LlamaModel, Token } from "node-llama-cpp";
import { MIN_LOGPROB } from "../../../shared/token-probability.ts";

/** Parts of llama.cpp's binding that this file uses. */
interface SamplerBinding {
  applyConfig(config: Readonly<Record<string, number | Uint32Array | Float32Array>>): void;
  dispose(): void;
}
type Sampled = readonly [token: Token, tokensAndProbabilities?: readonly number[], confidence?: number];
interface Internals {
  readonly llama: { readonly _bindings: { readonly AddonSampler: new (model: unknown) => SamplerBinding } };
  readonly model: { readonly _model: unknown };
  readonly context: {
    readonly _ctx: {
      sampleToken(
        batchIndex: number,
        sampler: SamplerBinding,
        withProbabilities: boolean,
        withConfidence: boolean,
      ): Promise<Sampled>;
    };
  };
}

/** Log probabilities of a token and of its alternatives. */
export interface TokenLogits {
  readonly token: Token;
  readonly logprob: number;
  /** Alternatives, the most probable first. */
  readonly top: readonly { readonly token: Token; readonly logprob: number }[];
}

/**
 * Number of tokens whose probabilities are read. A whole vocabulary has 150,000, which would block the event loop for
 * tens of milliseconds.
 */
const MAX_CANDIDATES = 1_000;
/** Bias that makes any token the best or second best one, in nats. Single precision has room for it. */
const RAISED_BY = 50;

/**
 * Reads the model's token probabilities before temperature, penalties and grammar. node-llama-cpp has only the
 * probabilities after its samplers, so two more samplers read each result. One gives the share of the most probable
 * token in the whole vocabulary, the other the relative shares of the most probable tokens. A third one compares a token
 * outside this list with the most probable one: with a vocabulary of 150,000, a list of all tokens takes seven times as
 * long and blocks the event loop.
 */
export class LogitReader {
  readonly #context: Internals["context"]["_ctx"];
  readonly #best: SamplerBinding;
  readonly #list: SamplerBinding;
  readonly #pair: SamplerBinding;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(parts: { llama: Llama; model: LlamaModel; context: LlamaContext }) {
    const { llama, model, context } = parts as unknown as Internals;
    this.#context = context._ctx;
    const { AddonSampler } = llama._bindings;
    this.#best = new AddonSampler(model._model);
    this.#best.applyConfig({ temperature: 0 });
    this.#list = new AddonSampler(model._model);
    this.#list.applyConfig({ temperature: 1, topK: MAX_CANDIDATES, seed: 0 });
    this.#pair = new AddonSampler(model._model);
  }

  /** @param batchIndex index of the result in the current batch. @param topCount number of alternatives to return. */
  read(batchIndex: number, token: Token, topCount: number): Promise<TokenLogits> {
    const reading = this.#readLogits(batchIndex, token, topCount);
    this.#reading = reading.catch(() => {});
    return reading;
  }

  /** Ends the reader. Waits for the native code, which may still read for an aborted run. */
  async dispose(): Promise<void> {
    await this.#reading;
    this.#best.dispose();
    this.#list.dispose();
    this.#pair.dispose();
  }

  async #readLogits(batchIndex: number, token: Token, topCount: number): Promise<TokenLogits> {
    const [, , best = 1] = await this.#context.sampleToken(batchIndex, this.#best, false, true);
    const list = await this.#read(batchIndex, this.#list, best);
    const listed = list.find((each) => each.token === token);
    const [first] = list;
    // A grammar, a bias or a penalty may have chosen the token.
    const logprob =
      listed?.logprob ?? (first === undefined ? MIN_LOGPROB : await this.#compare(batchIndex, token, first));
    return { token, logprob, top: list.slice(0, topCount) };
  }

  /** Returns the log probability of a token from the share that it has together with the most probable one. */
  async #compare(batchIndex: number, token: Token, first: TokenLogits["top"][number]): Promise<number> {
    this.#pair.applyConfig({
      temperature: 1,
      topK: 2,
      seed: 0,
      tokenBiasKeys: Uint32Array.from([token]),
      tokenBiasValues: Float32Array.from([RAISED_BY]),
    });
    const [, shares = []] = await this.#context.sampleToken(batchIndex, this.#pair, true, false);
    const [share = 0, other = 1] = shares[0] === token ? [shares[1], shares[3]] : [shares[3], shares[1]];
    const logprob = first.logprob + Math.log(share / other) - RAISED_BY;
    return Math.max(MIN_LOGPROB, Math.min(0, logprob));
  }

  async #read(batchIndex: number, sampler: SamplerBinding, best: number): Promise<TokenLogits["top"][number][]> {
    const [, shares = []] = await this.#context.sampleToken(batchIndex, sampler, true, false);
    const list: TokenLogits["top"][number][] = [];
    const [, first = 1] = shares;
    for (let at = 0; at + 1 < shares.length; at += 2) {
      const logprob = Math.log((shares[at + 1] as number) / first) + Math.log(best);
      list.push({ token: shares[at] as Token, logprob: Math.max(MIN_LOGPROB, Math.min(0, logprob)) });
    }
    return list;
  }
}
