import type { JobEnding } from "../store/job-store.ts";

export interface SettleFacts {
  readonly event: JobEnding["event"];
  readonly priceMicro: number;
  /** A client may have seen something of the output. */
  readonly hasOutput: boolean;
  readonly deliveredTokens: number;
  /** Null where the Cargo has no such limit: output that began is then charged in full. */
  readonly maxTokens: number | null;
  /** The network's part of a charge, 0 to 1. */
  readonly networkFee: number;
  /** Owner of the Island that has the job; null for none, the network then keeps all. */
  readonly ownerAccountId: string | null;
}

/**
 * What a job that ends is charged of its price, and who earns it. Completed: all. Failed, timed out, or cancelled before output:
 * nothing. Cancelled after output began: the delivered share of its tokens, rounded up. Source: DESIGN §4, row Credits.
 * @throws {RangeError} for a fee or a price that is none.
 */
export function settle(facts: SettleFacts): Pick<JobEnding, "chargeMicro" | "earning"> {
  const { priceMicro, networkFee, ownerAccountId } = facts;
  if (!Number.isSafeInteger(priceMicro) || priceMicro < 0) throw new RangeError(`${priceMicro} is not a price`);
  if (!(networkFee >= 0 && networkFee <= 1)) throw new RangeError(`${networkFee} is not a fee of 0 to 1`);
  const chargeMicro = chargeOf(facts);
  const earnedMicro = chargeMicro - Math.round(chargeMicro * networkFee);
  const isEarned = ownerAccountId !== null && earnedMicro > 0;
  return { chargeMicro, earning: isEarned ? { accountId: ownerAccountId, micro: earnedMicro } : null };
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
