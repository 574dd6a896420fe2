import type { EndEvent } from "../../shared/job-state.ts";
import { assertPrice, type Posting } from "./postings.ts";
import { chargeOf, type TokenRates } from "./pricing.ts";

/** Facts about a job that ends, from which its charge follows. */
export interface SettleFacts {
  readonly event: EndEvent;
  readonly accountId: string;
  /** The held credits: the maximum of the charge. */
  readonly priceMicro: number;
  /** Rates of the tokens; null if the job costs its price or nothing. */
  readonly rates: TokenRates | null;
  /** Whether the client received part of the output. White space does not count. */
  readonly hasOutput: boolean;
  /** Whether the job fails because its Island broke the protocol; nothing is charged then. */
  readonly isFaultOfIsland: boolean;
  readonly deliveredTokens: number;
  /** Number of prompt tokens that the model has read; 0 if the Island does not report them. */
  readonly readTokens: number;
  /** Share of a charge that the network keeps, 0 to 1. */
  readonly networkFee: number;
  /** Account that owns the Island of the job; null for none, so that the network keeps the whole charge. */
  readonly ownerAccountId: string | null;
  /** Whether the owner gets the earning only after an audit; absent: at once. */
  readonly isEarningHeld?: boolean;
}

interface Settlement {
  readonly chargeMicro: number;
  /** The part of the charge that the Island's owner earns. */
  readonly earnedMicro: number;
  readonly postings: readonly Posting[];
}

/**
 * Computes the charge of a job that ends, 0 to its price, and the postings that empty its hold.
 * - Completed: the tokens read and delivered, or the price; nothing for an empty result.
 * - Cancelled: the tokens read and delivered, or the price if output was delivered.
 * - Failed or timed out: the tokens read and delivered, but nothing before output, and nothing if the Island broke the
 *   protocol. A job with a price per job costs nothing.
 * Source: decision 0040, docs/internals/credits.md.
 * @throws {RangeError} for an invalid fee or price
 */
export function settle(facts: SettleFacts): Settlement {
  const { accountId, priceMicro, networkFee, ownerAccountId, isEarningHeld = false } = facts;
  assertPrice(priceMicro);
  const chargeMicro = decideCharge(facts);
  const earnedMicro = earnedOf(chargeMicro, networkFee);
  const earning =
    ownerAccountId === null ? null : { accountId: ownerAccountId, micro: earnedMicro, isHeld: isEarningHeld };
  return { chargeMicro, earnedMicro, postings: settlePostings({ accountId, priceMicro, chargeMicro, earning }) };
}

/** Returns the part of a charge that the Island's owner earns. @throws {RangeError} unless `networkFee` is 0 to 1. */
export function earnedOf(chargeMicro: number, networkFee: number): number {
  if (!(networkFee >= 0 && networkFee <= 1)) throw new RangeError(`Invalid network fee ${networkFee}: expected 0 to 1`);
  return chargeMicro - Math.round(chargeMicro * networkFee);
}

/**
 * Returns postings that empty a hold: the charge goes to the Island's owner (`earning`) and the network, the rest to
 * the client.
 */
export function settlePostings(settled: {
  readonly accountId: string;
  readonly priceMicro: number;
  readonly chargeMicro: number;
  readonly earning: { readonly accountId: string; readonly micro: number; readonly isHeld?: boolean } | null;
}): Posting[] {
  const { accountId, priceMicro, chargeMicro, earning } = settled;
  const earnedMicro = earning?.micro ?? 0;
  const releasedMicro = priceMicro - chargeMicro;
  return [
    { party: `hold:${accountId}`, micro: 0 - chargeMicro, kind: "charge" },
    earning?.isHeld === true
      ? { party: `hold:${earning.accountId}`, micro: earnedMicro, kind: "hold" }
      : { party: `client:${earning?.accountId ?? accountId}`, micro: earnedMicro, kind: "earning" },
    { party: "network", micro: chargeMicro - earnedMicro, kind: "fee" },
    { party: `hold:${accountId}`, micro: 0 - releasedMicro, kind: "release" },
    { party: `client:${accountId}`, micro: releasedMicro, kind: "release" },
  ];
}

function decideCharge(facts: SettleFacts): number {
  const { event, hasOutput, isFaultOfIsland, rates } = facts;
  switch (event) {
    case "complete":
      return hasOutput ? chargeOfRun(facts) : 0;
    case "fail":
    case "expire":
      return hasOutput && !isFaultOfIsland && rates !== null ? chargeOfRun(facts) : 0;
    case "cancel":
      return hasOutput || rates !== null ? chargeOfRun(facts) : 0;
    default:
      throw new Error(`Unknown ending ${String(event satisfies never)}`);
  }
}

function chargeOfRun({ priceMicro, rates, hasOutput, readTokens, deliveredTokens }: SettleFacts): number {
  if (rates === null) return priceMicro;
  return chargeOf(rates, { prompt: readTokens, completion: hasOutput ? deliveredTokens : 0 }, priceMicro);
}
