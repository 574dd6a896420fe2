import { describe, expect, it } from "vitest";
import { describePrice, describeTokenRates } from "../../../web/src/components/price.ts";

const NONE = { prompt: null, completion: null, megapixel_step: null, audio_second: null };
const NO_SIZE = { prompt_tokens: null, completion_tokens: null, megapixel_steps: null, audio_seconds: null };
const CHAT = {
  ...NONE,
  prompt: 4,
  completion: 16,
  reference: { ...NO_SIZE, prompt_tokens: 500, completion_tokens: 500 },
};
const EMBEDDING = { ...NONE, prompt: 20, reference: { ...NO_SIZE, prompt_tokens: 4_000 } };

describe("describePrice()", () => {
  it.each([
    ["0.01 credits per job", null],
    ["0.01 credits per job of 500 + 500 tokens; 4 / 16 credits per million tokens", CHAT],
    ["0.01 credits per job of 4,000 tokens; 20 credits per million tokens", EMBEDDING],
    [
      "0.01 credits per job of 5.24 megapixel steps; 0.05 credits per megapixel and step",
      { ...NONE, megapixel_step: 0.05, reference: { ...NO_SIZE, megapixel_steps: 5.242_88 } },
    ],
    [
      "0.01 credits per job of 60 s; 0.001 credits per second",
      { ...NONE, audio_second: 0.001, reference: { ...NO_SIZE, audio_seconds: 60 } },
    ],
  ])("returns %j", (text, pricing) => {
    expect(describePrice({ price_per_job: 0.01, pricing })).toBe(text);
  });
});

describe("describeTokenRates()", () => {
  it("is null for a Cargo that is not priced by tokens", () => {
    expect([describeTokenRates(null), describeTokenRates(CHAT), describeTokenRates(EMBEDDING)]).toEqual([
      null,
      "4 / 16",
      "20",
    ]);
  });
});
