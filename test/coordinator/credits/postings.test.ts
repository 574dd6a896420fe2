import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  grantPostings,
  holdPostings,
  partiesOf,
  refusalOf,
  type LedgerParty,
  type Posting,
} from "../../../coordinator/credits/postings.ts";
import { earnedOf, settle } from "../../../coordinator/credits/settle.ts";

const CLIENT = "user_client";
const OWNER = "user_owner";

/** Balances as a store computes them. */
class Books {
  readonly balances = new Map<LedgerParty, bigint>([
    ["network", 0n],
    ...[CLIENT, OWNER].flatMap((id) => partiesOf(id).map((party): [LedgerParty, bigint] => [party, 0n])),
  ]);

  refusal(postings: readonly Posting[]): Error | null {
    return refusalOf(postings, (party) => this.balances.get(party));
  }

  post(postings: readonly Posting[]): void {
    expect(this.refusal(postings)).toBeNull();
    for (const { party, micro } of postings) {
      this.balances.set(party, (this.balances.get(party) ?? 0n) + BigInt(micro));
    }
  }

  of(party: LedgerParty): bigint {
    return this.balances.get(party) ?? -1n;
  }
}

const sumOf = (postings: readonly Posting[]): bigint => postings.reduce((sum, { micro }) => sum + BigInt(micro), 0n);

const ending = fc.record({
  event: fc.constantFrom("complete" as const, "fail" as const, "cancel" as const, "expire" as const),
  hasOutput: fc.boolean(),
  isFaultOfIsland: fc.boolean(),
  deliveredTokens: fc.nat(),
  readTokens: fc.nat(),
  rates: fc.option(fc.record({ prompt: fc.maxSafeNat(), completion: fc.maxSafeNat() })),
  networkFee: fc.double({ min: 0, max: 1, noNaN: true }),
  ownerAccountId: fc.constantFrom(null, OWNER, CLIENT),
});

/** Facts of a job that reported everything. */
const RUN = {
  hasOutput: true,
  isFaultOfIsland: false,
  deliveredTokens: 1,
  readTokens: 0,
  rates: null,
} as const;

describe("postings", () => {
  it("sum to zero and are exact for any grants, holds and settlements", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), ending, (priceMicro, facts) => {
        const settled = settle({ ...facts, accountId: CLIENT, priceMicro });
        const all = [
          grantPostings(CLIENT, Math.max(1, priceMicro)),
          holdPostings(CLIENT, [priceMicro]),
          settled.postings,
        ];
        for (const postings of all) {
          expect(sumOf(postings)).toBe(0n);
          for (const { micro } of postings) expect(Number.isSafeInteger(micro)).toBe(true);
        }
      }),
    );
  });

  it("never charge above the price, nor pay out more than the charge", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), ending, (priceMicro, facts) => {
        const { chargeMicro, postings } = settle({ ...facts, accountId: CLIENT, priceMicro });
        const micro = (kind: Posting["kind"]) => postings.find((posting) => posting.kind === kind)?.micro ?? Number.NaN;
        expect(Number.isSafeInteger(chargeMicro) && chargeMicro >= 0 && chargeMicro <= priceMicro).toBe(true);
        expect(Math.min(micro("earning"), micro("fee"))).toBeGreaterThanOrEqual(0);
        expect(micro("earning") + micro("fee")).toBe(chargeMicro);
        const earnedMicro = facts.ownerAccountId === null ? 0 : earnedOf(chargeMicro, facts.networkFee);
        expect(micro("earning")).toBe(earnedMicro);
      }),
    );
  });

  it("leave nothing held and lose nothing if jobs are held together and settled one by one", () => {
    const job = fc.record({ priceMicro: fc.nat(4_000_000_000_000), facts: ending });
    fc.assert(
      fc.property(fc.array(job, { minLength: 1, maxLength: 100 }), (jobs) => {
        const books = new Books();
        const prices = jobs.map(({ priceMicro }) => priceMicro);
        const total = prices.reduce((sum, price) => sum + price, 0);
        books.post(grantPostings(CLIENT, total + 1));
        books.post(holdPostings(CLIENT, prices));
        expect(books.of(`client:${CLIENT}`)).toBe(1n);
        expect(books.of(`hold:${CLIENT}`)).toBe(BigInt(total));
        for (const { priceMicro, facts } of jobs) {
          books.post(settle({ ...facts, accountId: CLIENT, priceMicro }).postings);
        }
        expect(books.of(`hold:${CLIENT}`)).toBe(0n);
        expect([...books.balances.values()].reduce((sum, balance) => sum + balance, 0n)).toBe(0n);
      }),
    );
  });

  it("hold the same for a batch as for its jobs submitted separately", () => {
    expect(holdPostings(CLIENT, [1, 2, 3]).map(({ micro }) => micro)).toEqual([-6, 6]);
    expect(holdPostings(CLIENT, [6])).toEqual(holdPostings(CLIENT, [1, 2, 3]));
    expect(holdPostings(CLIENT, [0]).map(({ micro }) => micro)).toEqual([0, 0]);
  });

  it("throw for invalid amounts", () => {
    for (const micro of [0, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => grantPostings(CLIENT, micro), String(micro)).toThrow(RangeError);
    }
    for (const price of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => holdPostings(CLIENT, [1, price]), String(price)).toThrow(RangeError);
    }
  });
});

describe("refusalOf()", () => {
  it("refuses more than the client has, in credits", () => {
    const books = new Books();
    books.post(grantPostings(CLIENT, 2_500_000));
    expect(books.refusal(holdPostings(CLIENT, [2_500_000]))).toBeNull();
    expect(books.refusal(holdPostings(CLIENT, [2_500_000, 1]))).toMatchObject({
      code: "insufficient_credits",
      message: "Not enough credits: 2.500001 needed, 2.5 available",
    });
    // This amount exceeds the precision of a double.
    const most = Array.from({ length: 100 }, () => Number.MAX_SAFE_INTEGER);
    expect(books.refusal(holdPostings(CLIENT, most))).toMatchObject({ code: "insufficient_credits" });
  });

  it("refuses an unknown account before any other check, even for a price of 0", () => {
    const books = new Books();
    expect(books.refusal(holdPostings("user_none", [0]))).toMatchObject({ code: "not_found" });
    expect(books.refusal(grantPostings("user_none", Number.MAX_SAFE_INTEGER))).toMatchObject({ code: "not_found" });
  });

  it("refuses a grant beyond the limit of an account, but never an earning", () => {
    const books = new Books();
    books.post(grantPostings(OWNER, Number.MAX_SAFE_INTEGER));
    expect(books.refusal(grantPostings(OWNER, 1))).toMatchObject({ code: "bad_request" });
    books.post(grantPostings(CLIENT, 10));
    books.post(holdPostings(CLIENT, [10]));
    const facts = { event: "complete", ...RUN, networkFee: 0 } as const;
    books.post(settle({ ...facts, accountId: CLIENT, priceMicro: 10, ownerAccountId: OWNER }).postings);
    expect(books.of(`client:${OWNER}`)).toBe(2n ** 53n + 9n);
    expect(books.refusal(grantPostings(OWNER, -1))).toBeNull();
  });

  it("refuses a grant beyond the limit of the network", () => {
    const books = new Books();
    books.balances.set("network", -(2n ** 62n) + 5n);
    expect(books.refusal(grantPostings(CLIENT, 5))).toBeNull();
    expect(books.refusal(grantPostings(CLIENT, 6))).toMatchObject({ code: "bad_request" });
  });

  it("returns a plain error for a wrong sum, a fractional micro-credit, or more than is held", () => {
    const books = new Books();
    books.post(grantPostings(CLIENT, 100));
    const [network, client] = grantPostings(CLIENT, 5) as [Posting, Posting];
    expect(String(books.refusal([network]))).toMatch(/^Error: .*sum to 0 micro-credits, got -5/);
    expect(String(books.refusal([network, { ...client, micro: 4.5 }]))).toMatch(/^Error: .*4\.5/);
    const facts = { event: "fail", ...RUN, networkFee: 0 } as const;
    const release = settle({ ...facts, accountId: CLIENT, priceMicro: 10, ownerAccountId: OWNER });
    expect(String(books.refusal(release.postings))).toMatch(/^Error: hold:user_client holds 0/);
  });
});
