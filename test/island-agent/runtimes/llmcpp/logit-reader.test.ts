import type { Llama, LlamaContext, LlamaModel, Token } from "node-llama-cpp";
import { expect, it } from "vitest";
import { LogitReader } from "../../../../island-agent/runtimes/llmcpp/logit-reader.ts";

/** Probabilities in a vocabulary of four tokens. Samplers with a short list return two. */
const SHARES = [0.5, 0.3, 0.2 - 1e-12, 1e-12];

class AddonSampler {
  isShort = false;
  weights = SHARES.map((share, token) => [token, share] as const);
  applyConfig(config: { topK?: number; tokenBiasKeys?: Uint32Array; tokenBiasValues?: Float32Array }): void {
    const { topK, tokenBiasKeys: [biased] = [], tokenBiasValues: [bias = 0] = [] } = config;
    this.isShort = topK !== undefined;
    this.weights = SHARES.map((share, token) => [token, token === biased ? share * Math.exp(bias) : share] as const);
  }
  dispose(): void {}
}

it("LogitReader returns probabilities over the whole vocabulary, even for a token outside the short list", async () => {
  let longest = 0;
  const sampleToken = async (_: number, { isShort, weights }: AddonSampler, withShares: boolean) => {
    const listed = weights.toSorted(([, a], [, b]) => b - a).slice(0, isShort ? 2 : undefined);
    if (withShares) longest = Math.max(longest, listed.length);
    const sum = listed.reduce((total, [, share]) => total + share, 0);
    return [0, withShares ? listed.flatMap(([token, share]) => [token, share / sum]) : undefined, SHARES[0]];
  };
  const reader = new LogitReader({
    llama: { _bindings: { AddonSampler } } as unknown as Llama,
    model: {} as LlamaModel,
    context: { _ctx: { sampleToken } } as unknown as LlamaContext,
  });
  for (const [token, share] of SHARES.entries()) {
    const { logprob, top } = await reader.read(0, token as Token, 1);
    expect(logprob).toBeCloseTo(Math.log(share), 4);
    expect(top.map((each) => Math.exp(each.logprob))).toEqual([expect.closeTo(0.5)]);
  }
  expect(longest).toBe(2);
});
