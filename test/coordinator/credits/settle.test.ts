import { describe, expect, it } from "vitest";
import { settle, type SettleFacts } from "../../../coordinator/credits/settle.ts";
import { DEFAULT_OUTPUT_TOKENS } from "../../../shared/chat-input.ts";

/** A completed job of 1 credit on the Island of an owner, with a fee of 10 %. */
function settleOf(override: Partial<SettleFacts> = {}): ReturnType<typeof settle> {
  return settle({
    event: "complete",
    priceMicro: 1_000_000,
    hasOutput: true,
    isFaultOfIsland: false,
    deliveredTokens: 30,
    readTokens: 0,
    promptTokens: 0,
    maxTokens: 100,
    networkFee: 0.1,
    accountId: "user_client",
    ownerAccountId: "user_owner",
    ...override,
  });
}

/** The movements of a settlement, without postings of 0. */
function moved({ postings }: ReturnType<typeof settle>): [string, number, string][] {
  return postings.filter(({ micro }) => micro !== 0).map(({ party, micro, kind }) => [party, micro, kind]);
}

const PAID = [
  ["hold:user_client", -1_000_000, "charge"],
  ["client:user_owner", 900_000, "earning"],
  ["network", 100_000, "fee"],
];
const RELEASED = [
  ["hold:user_client", -1_000_000, "release"],
  ["client:user_client", 1_000_000, "release"],
];

describe("settle()", () => {
  it("charges a completed job in full, however little it delivered", () => {
    expect(settleOf().chargeMicro).toBe(1_000_000);
    expect(moved(settleOf())).toEqual(PAID);
    expect(settleOf({ deliveredTokens: 1 })).toEqual(settleOf());
  });

  it("charges nothing for an empty result", () => {
    expect(moved(settleOf({ hasOutput: false, deliveredTokens: 0 }))).toEqual(RELEASED);
  });

  it.each(["fail", "expire"] as const)("charges the delivered share of a job that ends by %s", (event) => {
    expect(settleOf({ event }).chargeMicro).toBe(300_000);
    expect(moved(settleOf({ event, hasOutput: false, deliveredTokens: 0 }))).toEqual(RELEASED);
    // The output of other Cargos contains no part that a client can use on its own.
    expect(moved(settleOf({ event, maxTokens: null }))).toEqual(RELEASED);
  });

  it("charges the example of docs/concepts.md", () => {
    const prompt = { promptTokens: 904, readTokens: 904 };
    const settled = settleOf({ event: "cancel", ...prompt, deliveredTokens: 274, maxTokens: DEFAULT_OUTPUT_TOKENS });
    expect(settled.chargeMicro).toBe(400_000);
  });

  it("charges nothing if the Island broke the protocol", () => {
    expect(moved(settleOf({ event: "fail", isFaultOfIsland: true }))).toEqual(RELEASED);
  });

  it("charges nothing for a cancellation before output if the prompt was not reported", () => {
    const settled = settleOf({ event: "cancel", hasOutput: false, deliveredTokens: 0 });
    expect(settled.chargeMicro).toBe(0);
    expect(moved(settled)).toEqual(RELEASED);
  });

  it("charges a cancellation during the prompt for the tokens read, each at a quarter of a generated token", () => {
    const prefill = { event: "cancel", hasOutput: false, deliveredTokens: 0, promptTokens: 400 } as const;
    expect(settleOf({ ...prefill, readTokens: 400 }).chargeMicro).toBe(500_000);
    expect(settleOf({ ...prefill, readTokens: 100 }).chargeMicro).toBe(125_000);
    expect(settleOf({ ...prefill, readTokens: 400, event: "fail" }).chargeMicro).toBe(0);
  });

  it("charges the prompt in addition to what was delivered, regardless of the outcome", () => {
    for (const event of ["cancel", "fail", "expire"] as const) {
      expect(settleOf({ event, deliveredTokens: 50, readTokens: 400, promptTokens: 400 }).chargeMicro).toBe(750_000);
    }
  });

  it("charges a cancellation after output for the delivered share of max_tokens, rounded up", () => {
    expect(settleOf({ event: "cancel" }).chargeMicro).toBe(300_000);
    expect(settleOf({ event: "cancel", deliveredTokens: 1, maxTokens: 3 }).chargeMicro).toBe(333_334);
    expect(settleOf({ event: "cancel", deliveredTokens: 0 }).chargeMicro).toBe(0);
    expect(moved(settleOf({ event: "cancel" }))).toEqual([
      ["hold:user_client", -300_000, "charge"],
      ["client:user_owner", 270_000, "earning"],
      ["network", 30_000, "fee"],
      ["hold:user_client", -700_000, "release"],
      ["client:user_client", 700_000, "release"],
    ]);
  });

  it("charges at most the full price for a cancellation", () => {
    expect(settleOf({ event: "cancel", deliveredTokens: 101 }).chargeMicro).toBe(1_000_000);
    expect(settleOf({ event: "cancel", maxTokens: null }).chargeMicro).toBe(1_000_000);
  });

  it("is exact if price times tokens exceeds the safe integers", () => {
    const price = Number.MAX_SAFE_INTEGER;
    expect(settleOf({ event: "cancel", priceMicro: price, deliveredTokens: 4_095, maxTokens: 4_096 }).chargeMicro).toBe(
      Number((BigInt(price) * 4_095n + 4_095n) / 4_096n),
    );
  });

  it("leaves the whole charge to the network if the Island's owner is unknown or the fee is 100 %", () => {
    const kept = [
      ["hold:user_client", -1_000_000, "charge"],
      ["network", 1_000_000, "fee"],
    ];
    expect(moved(settleOf({ ownerAccountId: null }))).toEqual(kept);
    expect(moved(settleOf({ networkFee: 1 }))).toEqual(kept);
  });

  it("refuses an invalid price or fee", () => {
    for (const priceMicro of [-1, 0.5, Number.NaN]) expect(() => settleOf({ priceMicro })).toThrow(RangeError);
    for (const networkFee of [-0.1, 1.1, Number.NaN]) expect(() => settleOf({ networkFee })).toThrow(RangeError);
  });
});
