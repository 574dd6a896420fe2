import { ServiceError } from "../../shared/errors.ts";
import { InsufficientCreditsError } from "./credit-errors.ts";

/**
 * Parties of the ledger. `client`: the spendable credits of an account, including its earnings. `hold`: credits
 * reserved for its unfinished jobs, and earnings that wait for an audit. `network`: the operator, whose balance is the
 * fees minus the issued credits.
 */
export type LedgerParty = `client:${string}` | `hold:${string}` | "network";
export type LedgerKind = "grant" | "hold" | "charge" | "release" | "earning" | "fee";

/**
 * One side of a movement of credits. The postings of a movement sum to zero and are stored together. The store adds
 * each to the balance of its party and keeps it as an entry; a posting of 0 leaves no entry.
 */
export interface Posting {
  readonly party: LedgerParty;
  /** Change of the party's balance in micro-credits, negative for a withdrawal. A safe integer. */
  readonly micro: number;
  readonly kind: LedgerKind;
}

/** Highest balance that a grant may produce: the API shows balances as doubles. Earnings may exceed it. */
const MAX_GRANTED_MICRO = BigInt(Number.MAX_SAFE_INTEGER);
/** Maximum of issued credits: half the range of a signed 64-bit integer, so that no balance overflows. */
const MAX_ISSUED_MICRO = 2n ** 62n;

export function partiesOf(accountId: string): readonly LedgerParty[] {
  return [`client:${accountId}`, `hold:${accountId}`];
}

/**
 * Returns postings that issue credits, or withdraw negative ones.
 * @throws {RangeError} unless `micro` is a safe integer other than 0
 */
export function grantPostings(accountId: string, micro: number): Posting[] {
  if (!Number.isSafeInteger(micro) || micro === 0) {
    throw new RangeError(`Invalid grant of ${micro} micro-credits: expected a safe integer other than 0`);
  }
  return [
    { party: "network", micro: -micro, kind: "grant" },
    { party: `client:${accountId}`, micro, kind: "grant" },
  ];
}

/** Returns postings that withdraw the remaining credits of a deleted account; empty for a balance of 0. */
export function returnPostings(accountId: string, balanceMicro: bigint): Posting[] {
  // Earnings may exceed a safe integer; the excess stays in the balance.
  const micro = Number(balanceMicro > MAX_GRANTED_MICRO ? MAX_GRANTED_MICRO : balanceMicro);
  return micro <= 0 ? [] : grantPostings(accountId, -micro);
}

/**
 * Returns the price of a job: the Cargo's at priority 0, `priorityPrice` times that at priority 100, linear in between.
 */
export function priceOf(cargoPriceMicro: number, priority: number, priorityPrice: number): number {
  return Math.round(cargoPriceMicro * (1 + ((priorityPrice - 1) * priority) / 100));
}

/** Returns postings that hold the prices of all jobs of a submission. @throws {RangeError} for an invalid price. */
export function holdPostings(accountId: string, pricesMicro: readonly number[]): Posting[] {
  for (const price of pricesMicro) assertPrice(price);
  const micro = pricesMicro.reduce((sum, price) => sum + price, 0);
  return [
    { party: `client:${accountId}`, micro: 0 - micro, kind: "hold" },
    { party: `hold:${accountId}`, micro, kind: "hold" },
  ];
}

/** The credits of a job whose earning was held. */
interface HeldEarning {
  readonly ownerAccountId: string;
  readonly clientAccountId: string;
  readonly chargedMicro: number;
  readonly earnedMicro: number;
}

/** Returns postings that pay a held earning to its owner. */
export function payPostings({ ownerAccountId, earnedMicro }: HeldEarning): Posting[] {
  return [
    { party: `hold:${ownerAccountId}`, micro: 0 - earnedMicro, kind: "release" },
    { party: `client:${ownerAccountId}`, micro: earnedMicro, kind: "earning" },
  ];
}

/**
 * Returns postings that return the whole charge of a job to its client: the held earning and the fee. The ledger shows
 * a grant with a job as a refund.
 */
export function refundPostings({ ownerAccountId, clientAccountId, chargedMicro, earnedMicro }: HeldEarning): Posting[] {
  return [
    { party: `hold:${ownerAccountId}`, micro: 0 - earnedMicro, kind: "release" },
    { party: "network", micro: earnedMicro - chargedMicro, kind: "fee" },
    { party: `client:${clientAccountId}`, micro: chargedMicro, kind: "grant" },
  ];
}

/** Returns postings that move a held earning to the network, because the client of the job refused audits. */
export function forfeitPostings({ ownerAccountId, earnedMicro }: HeldEarning): Posting[] {
  return [
    { party: `hold:${ownerAccountId}`, micro: 0 - earnedMicro, kind: "release" },
    { party: "network", micro: earnedMicro, kind: "fee" },
  ];
}

/** Checks a price. @throws {RangeError} unless it is a safe integer of 0 or more. */
export function assertPrice(micro: number): void {
  if (!Number.isSafeInteger(micro) || micro < 0)
    throw new RangeError(`Invalid price of ${micro} micro-credits: expected a safe integer of 0 or more`);
}

/**
 * Returns the error with which to refuse postings; null if they may be stored. A {@link ServiceError} is an expected
 * refusal: `not_found`, `insufficient_credits`, or `bad_request` for a grant beyond a limit. Any other error is a bug.
 * @param balanceOf returns a balance in micro-credits; undefined for an unknown party
 */
export function refusalOf(
  postings: readonly Posting[],
  balanceOf: (party: LedgerParty) => bigint | undefined,
): Error | null {
  const added = new Map<LedgerParty, bigint>();
  let sum = 0n;
  for (const { party, micro } of postings) {
    if (!Number.isInteger(micro))
      return new Error(`Posting to ${party} must be an integer of micro-credits, got ${micro}`);
    sum += BigInt(micro);
    added.set(party, (added.get(party) ?? 0n) + BigInt(micro));
  }
  if (sum !== 0n) return new Error(`The postings must sum to 0 micro-credits, got ${sum}`);
  const isGrant = postings.some(({ kind }) => kind === "grant");
  for (const [party, micro] of added) {
    const balance = balanceOf(party);
    if (balance === undefined)
      return new ServiceError("not_found", `There is no account "${party.replace(/^\w+:/, "")}"`);
    const refusal = exceededLimit(party, balance, micro, isGrant);
    if (refusal !== null) return refusal;
  }
  // This check is last: a hold that exceeds an exact double also exceeds the balance, which is the better reason.
  const inexact = postings.find(({ micro }) => !Number.isSafeInteger(micro));
  return inexact === undefined
    ? null
    : new Error(`A posting must be a safe integer of micro-credits, got ${inexact.micro}`);
}

function exceededLimit(party: LedgerParty, balance: bigint, added: bigint, isGrant: boolean): Error | null {
  const after = balance + added;
  if (party === "network") {
    if (!isGrant || after >= -MAX_ISSUED_MICRO) return null;
    const limit = "the issued credits of the network above 4,611,686,018,427 credits";
    return new ServiceError("bad_request", `This grant would raise ${limit}`);
  }
  if (after < 0n) {
    if (party.startsWith("hold:"))
      return new Error(`${party} holds ${balance} micro-credits, but ${-added} should be withdrawn`);
    return new InsufficientCreditsError(-added, balance);
  }
  if (!isGrant || added <= 0n || after <= MAX_GRANTED_MICRO) return null;
  return new ServiceError("bad_request", "This grant would raise the account's balance above 9,007,199,254 credits");
}
