import type { Llama, LlamaContext, LlamaModel, Token } from "node-llama-cpp";
import { MIN_LOGPROB } from "../../../shared/token-probability.ts";

/** The parts of llama.cpp's binding that this file uses. */
interface SamplerBinding {
  applyConfig(config: Readonly<Record<string, number>>): void;
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

/** What the model thought of a token and of those in its place. */
export interface TokenLogits {
  readonly token: Token;
  readonly logprob: number;
  /** Best first. */
  readonly top: readonly { readonly token: Token; readonly logprob: number }[];
}

/** Tokens whose probabilities are read. All of a vocabulary are 150,000 numbers, which take tens of milliseconds of the event loop. */
const SHORT_LIST = 1_000;

/**
 * Reads how probable tokens are for the model, whatever temperature, penalties or a grammar make of it. node-llama-cpp has probabilities
 * after its samplers only, so two samplers of our own read each result beside the one that chooses: one tells the share of the likeliest
 * token in the whole vocabulary, the other the shares of the likeliest among one another.
 */
export class LogitReader {
  readonly #context: Internals["context"]["_ctx"];
  readonly #best: SamplerBinding;
  readonly #list: SamplerBinding;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(parts: { llama: Llama; model: LlamaModel; context: LlamaContext }) {
    const { llama, model, context } = parts as unknown as Internals;
    this.#context = context._ctx;
    const { AddonSampler } = llama._bindings;
    this.#best = new AddonSampler(model._model);
    this.#best.applyConfig({ temperature: 0 });
    this.#list = new AddonSampler(model._model);
    this.#list.applyConfig({ temperature: 1, topK: SHORT_LIST, seed: 0 });
  }

  /** @param batchIndex Of the result in the present batch. @param topCount The likeliest tokens to tell. */
  read(batchIndex: number, token: Token, topCount: number): Promise<TokenLogits> {
    const reading = this.#readLogits(batchIndex, token, topCount);
    this.#reading = reading.catch(() => {});
    return reading;
  }

  /** Nothing may be read any more. Waits for the native code, which may still be reading for a run that was aborted. */
  async dispose(): Promise<void> {
    await this.#reading;
    this.#best.dispose();
    this.#list.dispose();
  }

  async #readLogits(batchIndex: number, token: Token, topCount: number): Promise<TokenLogits> {
    const [, , best = 1] = await this.#context.sampleToken(batchIndex, this.#best, false, true);
    let list = await this.#read(batchIndex, this.#list, best);
    let logprob = list.find((each) => each.token === token)?.logprob;
    if (logprob === undefined) {
      // A grammar, a bias or a penalty has chosen it.
      list = await this.#read(batchIndex, this.#best, best);
      logprob = list.find((each) => each.token === token)?.logprob ?? MIN_LOGPROB;
    }
    return { token, logprob, top: list.slice(0, topCount) };
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
