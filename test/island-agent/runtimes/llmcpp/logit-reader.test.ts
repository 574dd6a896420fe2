import type { Llama, LlamaContext, LlamaModel, Token } from "node-llama-cpp";
import { expect, it } from "vitest";
import { LogitReader } from "../../../../island-agent/runtimes/llmcpp/logit-reader.ts";

/** Probabilities in a vocabulary of three tokens. Samplers with a short list return two. */
const SHARES = [0.5, 0.3, 0.2];

class AddonSampler {
  isShort = false;
  applyConfig({ topK }: { topK?: number }): void {
    this.isShort = topK !== undefined;
  }
  dispose(): void {}
}

it("LogitReader returns probabilities over the whole vocabulary, even for a token outside the short list", async () => {
  const sampleToken = async (_: number, { isShort }: AddonSampler, withShares: boolean) => {
    const listed = isShort ? SHARES.slice(0, 2) : SHARES;
    const sum = listed.reduce((total, share) => total + share, 0);
    return [0, withShares ? listed.flatMap((share, token) => [token, share / sum]) : undefined, SHARES[0]];
  };
  const reader = new LogitReader({
    llama: { _bindings: { AddonSampler } } as unknown as Llama,
    model: {} as LlamaModel,
    context: { _ctx: { sampleToken } } as unknown as LlamaContext,
  });
  for (const [token, share] of SHARES.entries()) {
    const { logprob, top } = await reader.read(0, token as Token, 1);
    expect(Math.exp(logprob)).toBeCloseTo(share);
    expect(top.map((each) => Math.exp(each.logprob))).toEqual([expect.closeTo(0.5)]);
  }
});
