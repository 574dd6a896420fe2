import type { EndEvent } from "../../shared/job-state.ts";
import { assertPrice, type Posting } from "./postings.ts";

/** Facts about a job that ends, from which its charge follows. */
export interface SettleFacts {
  readonly event: EndEvent;
  readonly accountId: string;
  readonly priceMicro: number;
  /** Whether the client received part of the output. */
  readonly hasOutput: boolean;
  /** Whether the job fails because its Island broke the protocol; nothing is charged then. */
  readonly isFaultOfIsland: boolean;
  readonly deliveredTokens: number;
  /** Number of prompt tokens that the model has read; 0 if the Island does not report them. */
  readonly readTokens: number;
  /** Number of tokens of the whole prompt; 0 if the Island does not report them. */
  readonly promptTokens: number;
  /**
   * Maximum number of output tokens. Null if the Cargo has no maximum: a job cancelled after output started costs its
   * price.
   */
  readonly maxTokens: number | null;
  /** Share of a charge that the network keeps, 0 to 1. */
  readonly networkFee: number;
  /** Account that owns the Island of the job; null for none, so that the network keeps the whole charge. */
  readonly ownerAccountId: string | null;
}

/** Number of prompt tokens that cost as much as one generated token: prompts are read in batches. */
const PROMPT_TOKENS_PER_TOKEN = 4;

/**
 * Computes the charge of a job that ends, 0 to its price, and the postings that empty its hold. The price covers the
 * prompt and `max_tokens`.
 * - Completed: the whole price; nothing for an empty result.
 * - Cancelled: the share for the tokens read and delivered, rounded up.
 * - Failed or timed out: the same share, but nothing before output, and nothing if the Island broke the protocol.
 * Source: decision 0012, docs/internals/credits.md.
 * @throws {RangeError} for an invalid fee or price
 */
export function settle(facts: SettleFacts): { readonly chargeMicro: number; readonly postings: readonly Posting[] } {
  const { accountId, priceMicro, networkFee, ownerAccountId } = facts;
  assertPrice(priceMicro);
  const chargeMicro = decideCharge(facts);
  const earnedMicro = earnedOf(chargeMicro, networkFee);
  const earning = ownerAccountId === null ? null : { accountId: ownerAccountId, micro: earnedMicro };
  return { chargeMicro, postings: settlePostings({ accountId, priceMicro, chargeMicro, earning }) };
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

function decideCharge(facts: SettleFacts): number {
  const { event, priceMicro, hasOutput, isFaultOfIsland, maxTokens } = facts;
  switch (event) {
    case "complete":
      return hasOutput ? priceMicro : 0;
    case "fail":
    case "expire":
      return !hasOutput || isFaultOfIsland || maxTokens === null ? 0 : computeShare(facts, maxTokens);
    case "cancel":
      if (maxTokens === null) return hasOutput ? priceMicro : 0;
      return computeShare(facts, maxTokens);
    default:
      throw new Error(`Unknown ending ${String(event satisfies never)}`);
  }
}

/** Returns `price * done / all`, rounded up. Computes with bigint: the product may exceed the safe integers. */
function computeShare({ priceMicro, ...facts }: SettleFacts, maxTokens: number): number {
  const promptTokens = Math.max(facts.promptTokens, facts.readTokens);
  const done = facts.readTokens + PROMPT_TOKENS_PER_TOKEN * Math.min(facts.deliveredTokens, maxTokens);
  const all = BigInt(promptTokens + PROMPT_TOKENS_PER_TOKEN * maxTokens);
  return Number((BigInt(priceMicro) * BigInt(done) + all - 1n) / all);
}
