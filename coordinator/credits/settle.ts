import type { EndEvent } from "../../shared/job-state.ts";
import { assertPrice, type Posting } from "./postings.ts";

export interface SettleFacts {
  readonly event: EndEvent;
  /** Account that submitted the job. */
  readonly accountId: string;
  readonly priceMicro: number;
  /** A client may have seen something of the output. */
  readonly hasOutput: boolean;
  readonly deliveredTokens: number;
  /** Null if the Cargo has no such limit: a job cancelled after output began is then charged in full. */
  readonly maxTokens: number | null;
  /** The network's part of a charge, 0 to 1. */
  readonly networkFee: number;
  /** Owner of the Island that runs the job; null if there is none: the network then keeps the whole charge. */
  readonly ownerAccountId: string | null;
}

/** What becomes of the credits held for a job that ends. */
export interface Settlement {
  /** 0 to the job's price. */
  readonly chargeMicro: number;
  readonly postings: readonly Posting[];
}

/**
 * What a job that ends is charged of its price, who earns it, and what is released. Completed: all is charged. Failed, timed out,
 * or cancelled before output: nothing. Cancelled after output began: the delivered share of its tokens, rounded up.
 * Source: DESIGN §4, row Credits.
 * @throws {RangeError} for an invalid fee or price.
 */
export function settle(facts: SettleFacts): Settlement {
  const { accountId, priceMicro, networkFee, ownerAccountId } = facts;
  assertPrice(priceMicro);
  const chargeMicro = chargeOf(facts);
  const earnedMicro = earnedOf(chargeMicro, networkFee);
  const earning = ownerAccountId === null ? null : { accountId: ownerAccountId, micro: earnedMicro };
  return { chargeMicro, postings: settlePostings({ accountId, priceMicro, chargeMicro, earning }) };
}

/** The part of a charge that goes to the Island's owner. @throws {RangeError} unless `networkFee` is 0 to 1. */
export function earnedOf(chargeMicro: number, networkFee: number): number {
  if (!(networkFee >= 0 && networkFee <= 1)) throw new RangeError(`${networkFee} is not a fee of 0 to 1`);
  return chargeMicro - Math.round(chargeMicro * networkFee);
}

/**
 * Empties the hold of a job: the charge goes to the Island's owner (`earning`, null for none) and to the network, the rest back
 * to the client.
 */
export function settlePostings(settled: {
  readonly accountId: string;
  readonly priceMicro: number;
  readonly chargeMicro: number;
  readonly earning: { readonly accountId: string; readonly micro: number } | null;
}): Posting[] {
  const { accountId, priceMicro, chargeMicro, earning } = settled;
  const earnedMicro = earning?.micro ?? 0;
  const releasedMicro = priceMicro - chargeMicro;
  return [
    { party: `hold:${accountId}`, micro: 0 - chargeMicro, kind: "charge" },
    { party: `client:${earning?.accountId ?? accountId}`, micro: earnedMicro, kind: "earning" },
    { party: "network", micro: chargeMicro - earnedMicro, kind: "fee" },
    { party: `hold:${accountId}`, micro: 0 - releasedMicro, kind: "release" },
    { party: `client:${accountId}`, micro: releasedMicro, kind: "release" },
  ];
}

function chargeOf({ event, priceMicro, hasOutput, deliveredTokens, maxTokens }: SettleFacts): number {
  switch (event) {
    case "complete":
      return priceMicro;
    case "fail":
    case "expire":
      return 0;
    case "cancel":
      return hasOutput ? shareOf(priceMicro, deliveredTokens, maxTokens) : 0;
    default:
      throw new Error(`Unknown ending ${String(event satisfies never)}`);
  }
}

/** `price * delivered / max`, rounded up and at most the price; exact, although the product may pass the exact integers. */
function shareOf(priceMicro: number, deliveredTokens: number, maxTokens: number | null): number {
  if (maxTokens === null || deliveredTokens >= maxTokens) return priceMicro;
  const max = BigInt(maxTokens);
  return Number((BigInt(priceMicro) * BigInt(deliveredTokens) + max - 1n) / max);
}
