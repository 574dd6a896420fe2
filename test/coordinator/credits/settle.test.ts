import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { creditsFromMicro, microFromCredits } from "../../../coordinator/credits/micro-credits.ts";
import { settle, type SettleFacts } from "../../../coordinator/credits/settle.ts";

/** A completed job of 1 credit on an owner's Island, fee 10 %. */
function settleOf(override: Partial<SettleFacts> = {}): ReturnType<typeof settle> {
  return settle({
    event: "complete",
    priceMicro: 1_000_000,
    hasOutput: true,
    deliveredTokens: 30,
    maxTokens: 100,
    networkFee: 0.1,
    ownerAccountId: "user_owner",
    ...override,
  });
}

describe("settle()", () => {
  it("charges a completed job in full, whatever it delivered", () => {
    const earning = { accountId: "user_owner", micro: 900_000 };
    expect(settleOf()).toEqual({ chargeMicro: 1_000_000, earning });
    expect(settleOf({ hasOutput: false, deliveredTokens: 0 })).toEqual({ chargeMicro: 1_000_000, earning });
  });

  it.each(["fail", "expire"] as const)("charges nothing for a job that ends by %s", (event) => {
    expect(settleOf({ event })).toEqual({ chargeMicro: 0, earning: null });
  });

  it("charges nothing for a cancel before output", () => {
    expect(settleOf({ event: "cancel", hasOutput: false })).toEqual({ chargeMicro: 0, earning: null });
  });

  it("charges a cancel after output by the delivered share of max_tokens, rounded up", () => {
    expect(settleOf({ event: "cancel" }).chargeMicro).toBe(300_000);
    expect(settleOf({ event: "cancel", deliveredTokens: 1, maxTokens: 3 }).chargeMicro).toBe(333_334);
    expect(settleOf({ event: "cancel", deliveredTokens: 0 }).chargeMicro).toBe(0);
  });

  it("charges a cancel in full at the most", () => {
    expect(settleOf({ event: "cancel", deliveredTokens: 101 }).chargeMicro).toBe(1_000_000);
    expect(settleOf({ event: "cancel", maxTokens: null }).chargeMicro).toBe(1_000_000);
  });

  it("is exact where price times tokens passes the exact integers", () => {
    const price = Number.MAX_SAFE_INTEGER;
    expect(settleOf({ event: "cancel", priceMicro: price, deliveredTokens: 4_095, maxTokens: 4_096 }).chargeMicro).toBe(
      Number((BigInt(price) * 4_095n + 4_095n) / 4_096n),
    );
  });

  it("lets the network keep all where no Island's owner is known, or the fee is all", () => {
    expect(settleOf({ ownerAccountId: null }).earning).toBeNull();
    expect(settleOf({ networkFee: 1 }).earning).toBeNull();
  });

  it("refuses a price or a fee that is none", () => {
    for (const priceMicro of [-1, 0.5, Number.NaN]) expect(() => settleOf({ priceMicro })).toThrow(RangeError);
    for (const networkFee of [-0.1, 1.1, Number.NaN]) expect(() => settleOf({ networkFee })).toThrow(RangeError);
  });

  it("never charges above the price, nor earns above the charge", () => {
    const facts = fc.record({
      event: fc.constantFrom("complete" as const, "fail" as const, "cancel" as const, "expire" as const),
      priceMicro: fc.maxSafeNat(),
      hasOutput: fc.boolean(),
      deliveredTokens: fc.nat(),
      maxTokens: fc.option(fc.integer({ min: 1 })),
      networkFee: fc.double({ min: 0, max: 1, noNaN: true }),
      ownerAccountId: fc.constant("user_owner"),
    });
    fc.assert(
      fc.property(facts, (given) => {
        const { chargeMicro, earning } = settle(given);
        const earned = earning?.micro ?? 0;
        return (
          Number.isSafeInteger(chargeMicro) &&
          Number.isSafeInteger(earned) &&
          chargeMicro <= given.priceMicro &&
          earned >= 0 &&
          earned <= chargeMicro
        );
      }),
    );
  });
});

describe("microFromCredits() and creditsFromMicro()", () => {
  it("are exact both ways", () => {
    expect(microFromCredits(0.1)).toBe(100_000);
    expect(microFromCredits(10_000)).toBe(10_000_000_000);
    expect(creditsFromMicro(1)).toBe(0.000_001);
    fc.assert(
      fc.property(fc.nat(4_000_000_000_000_000), (micro) => microFromCredits(creditsFromMicro(micro)) === micro),
    );
  });

  it("refuse what is no amount", () => {
    for (const credits of [-1, -0.000_001, Number.NaN, Infinity, 0.000_000_1, 1.234_567_8, 4_000_000_001]) {
      expect(() => microFromCredits(credits), String(credits)).toThrow(RangeError);
    }
    for (const micro of [-1, 0.5, Number.NaN, Infinity]) {
      expect(() => creditsFromMicro(micro), String(micro)).toThrow(RangeError);
    }
  });
});
