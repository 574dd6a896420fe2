import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  chargeOf,
  currentPricing,
  priceJob,
  type PricedCargo,
  pricingOf,
  referencePriceOf,
} from "../../../coordinator/credits/pricing.ts";
import { DEFAULT_OUTPUT_TOKENS } from "../../../shared/chat-input.ts";

/** A chat of 0.01 credits per job. */
function makeCargo(override: Partial<PricedCargo> = {}): PricedCargo {
  return { isChat: true, onnxTaskType: null, priceMicro: 10_000, ...override };
}
const EMBEDDING = { isChat: false, onnxTaskType: "feature-extraction" };
const IMAGE = { isChat: false, onnxTaskType: null };

/** Returns the charge of a chat with these tokens that holds enough. */
function chargeFor(cargo: PricedCargo, prompt: number, completion: number): number {
  const { rates, heldMicro } = priceJob(cargo, { prompt, completion }, 0, 1);
  if (rates === null) throw new Error("The Cargo has no rates");
  return chargeOf(rates, { prompt, completion }, heldMicro);
}

const tokens = fc.integer({ min: 0, max: 131_072 });
const priceMicro = fc.integer({ min: 0, max: 1_000_000_000_000 });

describe("currentPricing()", () => {
  it("derives both rates of a chat from its price, by which a generated token costs as much as 4 prompt tokens", () => {
    expect(currentPricing(makeCargo())).toEqual({
      rates: { prompt: 4_000_000, completion: 16_000_000 },
      reference: { prompt: 500, completion: 500 },
    });
  });

  it("derives the rate of embeddings and rerankers from the price of 500 prompt tokens", () => {
    const expected = { rates: { prompt: 20_000_000 }, reference: { prompt: 500 } };
    expect(currentPricing(makeCargo(EMBEDDING))).toEqual(expected);
    expect(currentPricing(makeCargo({ isChat: false, task: "text-ranking" }))).toEqual(expected);
  });

  it("returns null for other Cargos without pricing", () => {
    expect(currentPricing(makeCargo(IMAGE))).toBeNull();
    expect(currentPricing(makeCargo({ isChat: false, onnxTaskType: "automatic-speech-recognition" }))).toBeNull();
  });

  it("changes the rates of the file by the factor by which the operator changed the price", () => {
    const pricing = pricingOf({ prompt: 2, completion: 18 });
    expect(referencePriceOf(pricing)).toBe(10_000);
    const doubled = currentPricing(makeCargo({ pricing, priceMicro: 20_000 }));
    expect(doubled?.rates).toEqual({ prompt: 4_000_000, completion: 36_000_000 });
    expect(currentPricing(makeCargo({ pricing, priceMicro: 0 }))?.rates).toEqual({ prompt: 0, completion: 0 });
  });
});

describe("pricingOf()", () => {
  it("takes the reference size of the file", () => {
    const pricing = pricingOf({
      prompt: 4,
      completion: 16,
      reference: { prompt_tokens: 4_000, completion_tokens: 1_000 },
    });
    expect(referencePriceOf(pricing)).toBe(32_000);
    expect(referencePriceOf(pricingOf({ prompt: 20, reference: { prompt_tokens: 100 } }))).toBe(2_000);
  });

  it("multiplies the price of images by pixels and steps, and the price of audio by seconds", () => {
    expect(referencePriceOf(pricingOf({ megapixel_step: 0.05 }))).toBe(262_144);
    const reference = { width: 1_000, height: 1_000, steps: 30 };
    expect(referencePriceOf(pricingOf({ megapixel_step: 0.05, reference }))).toBe(1_500_000);
    expect(referencePriceOf(pricingOf({ audio_second: 0.001 }))).toBe(60_000);
    expect(referencePriceOf(pricingOf({ audio_second: 0.001, reference: { seconds: 0.5 } }))).toBe(500);
  });

  it("rounds a price up to a micro-credit", () => {
    expect(referencePriceOf(pricingOf({ prompt: 0.000_001, completion: 0 }))).toBe(1);
  });
});

describe("priceJob()", () => {
  it("holds the largest prompt and completion, so that a default holds about twice the price of a job", () => {
    const { heldMicro } = priceJob(makeCargo(), { prompt: 500, completion: DEFAULT_OUTPUT_TOKENS }, 0, 1);
    expect(heldMicro).toBe(500 * 4 + 1_024 * 16);
  });

  it("raises the rates and the hold of a job with priority", () => {
    const { heldMicro, rates } = priceJob(makeCargo(), { prompt: 500, completion: 500 }, 50, 3);
    expect(heldMicro).toBe(20_000);
    expect(rates).toEqual({ prompt: 8_000_000, completion: 32_000_000 });
    expect(priceJob(makeCargo(IMAGE), {}, 50, 3)).toEqual({ heldMicro: 20_000, rates: null });
  });

  it("knows the price of an image or a recording at its submission", () => {
    const image = makeCargo({ ...IMAGE, priceMicro: 262_144, pricing: pricingOf({ megapixel_step: 0.05 }) });
    expect(priceJob(image, { pixelStep: 1_024 * 1_024 * 40 }, 0, 1)).toEqual({ heldMicro: 8 * 262_144, rates: null });
    const audio = makeCargo({ ...IMAGE, priceMicro: 60_000, pricing: pricingOf({ audio_second: 0.001 }) });
    expect(priceJob(audio, { audioUs: 1_500_000 }, 0, 1)).toEqual({ heldMicro: 1_500, rates: null });
  });

  it("holds the price of the reference size if the size is unknown", () => {
    const audio = makeCargo({ ...IMAGE, priceMicro: 60_000, pricing: pricingOf({ audio_second: 0.001 }) });
    expect(priceJob(audio, {}, 0, 1)).toEqual({ heldMicro: 60_000, rates: null });
    expect(priceJob(makeCargo(), {}, 0, 1).heldMicro).toBe(10_000);
  });

  it("holds a safe integer, whatever the price, the size and the priority", () => {
    fc.assert(
      fc.property(
        priceMicro,
        tokens,
        tokens,
        fc.integer({ min: 0, max: 100 }),
        (micro, prompt, completion, priority) => {
          for (const cargo of [makeCargo({ priceMicro: micro }), makeCargo({ ...IMAGE, priceMicro: micro })]) {
            const { heldMicro } = priceJob(cargo, { prompt, completion }, priority, 1_000);
            expect(Number.isSafeInteger(heldMicro) && heldMicro >= 0).toBe(true);
          }
        },
      ),
    );
  });
});

describe("chargeOf()", () => {
  it("charges 20 tokens for 20 tokens", () => {
    expect(chargeFor(makeCargo(), 0, 20)).toBe(20 * 16);
    expect(chargeFor(makeCargo(), 10, 20)).toBe(10 * 4 + 20 * 16);
  });

  it("charges a job of the reference size its price per job", () => {
    fc.assert(
      fc.property(priceMicro, (micro) => {
        expect(chargeFor(makeCargo({ priceMicro: micro }), 500, 500)).toBe(micro);
        expect(chargeFor(makeCargo({ ...EMBEDDING, priceMicro: micro }), 500, 0)).toBe(micro);
      }),
    );
  });

  it("differs by at most a micro-credit from the price that an operator set for a Cargo with its own prices", () => {
    const rate = fc.integer({ min: 1, max: 1_000_000_000 }).map((micro) => micro / 1_000_000);
    const size = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(rate, rate, size, size, priceMicro, (prompt, completion, prompts, completions, micro) => {
        const reference = { prompt_tokens: prompts, completion_tokens: completions };
        const pricing = pricingOf({ prompt, completion, reference });
        expect(chargeFor(makeCargo({ pricing, priceMicro: referencePriceOf(pricing) }), prompts, completions)).toBe(
          referencePriceOf(pricing),
        );
        const charge = chargeFor(makeCargo({ pricing, priceMicro: micro }), prompts, completions);
        expect(Math.abs(charge - micro)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("never exceeds the hold, is never negative, and never falls when a job has more tokens", () => {
    fc.assert(
      fc.property(priceMicro, tokens, tokens, tokens, tokens, (micro, prompt, completion, more, held) => {
        const { rates } = priceJob(makeCargo({ priceMicro: micro }), {}, 0, 1);
        if (rates === null) throw new Error("A chat has rates");
        const charge = chargeOf(rates, { prompt, completion }, held);
        expect(charge).toBeGreaterThanOrEqual(0);
        expect(charge).toBeLessThanOrEqual(held);
        expect(chargeOf(rates, { prompt: prompt + more, completion }, held)).toBeGreaterThanOrEqual(charge);
        expect(chargeOf(rates, { prompt, completion: completion + more }, held)).toBeGreaterThanOrEqual(charge);
      }),
    );
  });
});
