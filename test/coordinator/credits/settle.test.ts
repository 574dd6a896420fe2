import { describe, expect, it } from "vitest";
import { settle, type SettleFacts } from "../../../coordinator/credits/settle.ts";

/** A micro-credit for a prompt token, and 4 for a generated token. */
const RATES = { prompt: 1_000_000, completion: 4_000_000 };

/** A completed job that holds 1 credit, on the Island of an owner, with a fee of 10 %. */
function settleOf(override: Partial<SettleFacts> = {}): ReturnType<typeof settle> {
  return settle({
    event: "complete",
    priceMicro: 1_000_000,
    rates: null,
    hasOutput: true,
    isFaultOfIsland: false,
    deliveredTokens: 30,
    readTokens: 0,
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
  it("charges a job with a price per job in full when it completes, and when it is cancelled after output", () => {
    expect(settleOf().chargeMicro).toBe(1_000_000);
    expect(moved(settleOf())).toEqual(PAID);
    expect(settleOf({ deliveredTokens: 1 })).toEqual(settleOf());
    expect(moved(settleOf({ event: "cancel" }))).toEqual(PAID);
  });

  it("charges a job with a price per job nothing when it fails, times out, or is cancelled before output", () => {
    for (const event of ["fail", "expire"] as const) expect(moved(settleOf({ event }))).toEqual(RELEASED);
    expect(moved(settleOf({ event: "cancel", hasOutput: false, deliveredTokens: 0 }))).toEqual(RELEASED);
  });

  it("charges nothing for an empty result", () => {
    const empty = { hasOutput: false, deliveredTokens: 3, readTokens: 10 };
    expect(moved(settleOf(empty))).toEqual(RELEASED);
    expect(moved(settleOf({ ...empty, rates: RATES }))).toEqual(RELEASED);
  });

  it.each(["complete", "cancel", "fail", "expire"] as const)(
    "charges the tokens read and delivered when a job ends by %s after output",
    (event) => {
      const run = { event, rates: RATES, readTokens: 10, deliveredTokens: 20 };
      expect(settleOf(run).chargeMicro).toBe(10 + 20 * 4);
      expect(moved(settleOf({ ...run, deliveredTokens: 75_000, readTokens: 0 }))).toEqual([
        ["hold:user_client", -300_000, "charge"],
        ["client:user_owner", 270_000, "earning"],
        ["network", 30_000, "fee"],
        ["hold:user_client", -700_000, "release"],
        ["client:user_client", 700_000, "release"],
      ]);
    },
  );

  it("charges at most the hold", () => {
    expect(moved(settleOf({ rates: RATES, deliveredTokens: 250_001 }))).toEqual(PAID);
  });

  it("rounds the charge up to a micro-credit once", () => {
    const rates = { prompt: 1, completion: 1 };
    expect(settleOf({ rates, deliveredTokens: 1, readTokens: 1 }).chargeMicro).toBe(1);
    expect(settleOf({ rates, deliveredTokens: 1_000_000, readTokens: 1 }).chargeMicro).toBe(2);
  });

  it("charges a cancellation before output for the prompt tokens read, and a failure before output nothing", () => {
    const prefill = { rates: RATES, hasOutput: false, deliveredTokens: 0, readTokens: 100 };
    expect(settleOf({ ...prefill, event: "cancel" }).chargeMicro).toBe(100);
    expect(settleOf({ ...prefill, event: "cancel", readTokens: 0 }).chargeMicro).toBe(0);
    for (const event of ["fail", "expire"] as const) expect(settleOf({ ...prefill, event }).chargeMicro).toBe(0);
  });

  it("does not charge the tokens of white space to a client that cancels", () => {
    const blank = { rates: RATES, hasOutput: false, deliveredTokens: 40, readTokens: 100 };
    expect(settleOf({ ...blank, event: "cancel" }).chargeMicro).toBe(100);
  });

  it("charges nothing if the Island broke the protocol", () => {
    for (const rates of [null, RATES])
      expect(moved(settleOf({ event: "fail", rates, isFaultOfIsland: true }))).toEqual(RELEASED);
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
