import { ServiceError } from "../../shared/errors.ts";
import { InsufficientCreditsError } from "./credit-errors.ts";

/**
 * Parties of the ledger. `client`: what an account may spend, its earnings included. `hold`: what is set aside for its unfinished
 * jobs. `network`: the operator, who issues credits (its balance is the fees minus what was issued).
 */
export type LedgerParty = `client:${string}` | `hold:${string}` | "network";
export type LedgerKind = "grant" | "hold" | "charge" | "release" | "earning" | "fee";

/**
 * One side of a movement of credits. The postings of one movement sum to zero and are stored together: a store adds each to its
 * party's balance and keeps it as an entry. A posting of 0 leaves no entry.
 */
export interface Posting {
  readonly party: LedgerParty;
  /** Added to the party's balance; negative takes away. A safe integer. */
  readonly micro: number;
  readonly kind: LedgerKind;
}

/** A grant may not lift a balance above this, because the API shows balances as doubles. Earnings may. */
const MAX_GRANTED_MICRO = BigInt(Number.MAX_SAFE_INTEGER);
/** Limit of all that the network has issued: half the range of a signed 64-bit integer, so that no balance overflows. */
const MAX_ISSUED_MICRO = 2n ** 62n;

export function partiesOf(accountId: string): readonly LedgerParty[] {
  return [`client:${accountId}`, `hold:${accountId}`];
}

/** Issues credits to an account; negative ones are taken back. @throws {RangeError} unless `micro` is a safe integer other than 0. */
export function grantPostings(accountId: string, micro: number): Posting[] {
  if (!Number.isSafeInteger(micro) || micro === 0) {
    throw new RangeError(`A grant of ${micro} micro-credits is not possible: it takes an integer other than 0`);
  }
  return [
    { party: "network", micro: -micro, kind: "grant" },
    { party: `client:${accountId}`, micro, kind: "grant" },
  ];
}

/** Takes back what an account has left when it is deleted: a grant the other way round. Empty for a balance of 0. */
export function returnPostings(accountId: string, balanceMicro: bigint): Posting[] {
  // Earnings may exceed what a posting can express exactly; the rest then stays in the balance.
  const micro = Number(balanceMicro > MAX_GRANTED_MICRO ? MAX_GRANTED_MICRO : balanceMicro);
  if (micro <= 0) return [];
  return [
    { party: `client:${accountId}`, micro: -micro, kind: "grant" },
    { party: "network", micro, kind: "grant" },
  ];
}

/**
 * The price of a job: its Cargo's at priority 0, `priorityPrice` times as much at priority 100, and in between in proportion.
 * @param priorityPrice 1 or more.
 */
export function priceOf(cargoPriceMicro: number, priority: number, priorityPrice: number): number {
  return Math.round(cargoPriceMicro * (1 + ((priorityPrice - 1) * priority) / 100));
}

/** Holds the prices of all jobs of a submission; a single job is a submission of one. @throws {RangeError} for an invalid price. */
export function holdPostings(accountId: string, pricesMicro: readonly number[]): Posting[] {
  for (const price of pricesMicro) assertPrice(price);
  const micro = pricesMicro.reduce((sum, price) => sum + price, 0);
  return [
    { party: `client:${accountId}`, micro: 0 - micro, kind: "hold" },
    { party: `hold:${accountId}`, micro, kind: "hold" },
  ];
}

/** @throws {RangeError} */
export function assertPrice(micro: number): void {
  if (!Number.isSafeInteger(micro) || micro < 0) throw new RangeError(`${micro} micro-credits is not a price`);
}

/**
 * Why these postings may not be stored; null when they may. A store asks before it writes anything.
 * @param balanceOf balance in micro-credits; undefined for a party that does not exist.
 * @returns a {@link ServiceError} for what a caller must expect: `not_found` for an unknown account, `insufficient_credits`,
 *   `bad_request` for a grant beyond what an account may hold or the network may issue. Another error is a fault of the program.
 */
export function refusalOf(
  postings: readonly Posting[],
  balanceOf: (party: LedgerParty) => bigint | undefined,
): Error | null {
  const added = new Map<LedgerParty, bigint>();
  let sum = 0n;
  for (const { party, micro } of postings) {
    if (!Number.isInteger(micro)) return new Error(`A posting to ${party} has ${micro} micro-credits, not an integer`);
    sum += BigInt(micro);
    added.set(party, (added.get(party) ?? 0n) + BigInt(micro));
  }
  if (sum !== 0n) return new Error(`The postings sum to ${sum} micro-credits, not to 0`);
  const isGrant = postings.some(({ kind }) => kind === "grant");
  for (const [party, micro] of added) {
    const balance = balanceOf(party);
    if (balance === undefined)
      return new ServiceError("not_found", `There is no account "${party.replace(/^\w+:/, "")}"`);
    const refusal = limitPassed(party, balance, micro, isGrant);
    if (refusal !== null) return refusal;
  }
  // Last: a hold too large for an exact double is also more than the account has, and that is the reason to give.
  const inexact = postings.find(({ micro }) => !Number.isSafeInteger(micro));
  return inexact === undefined ? null : new Error(`A posting of ${inexact.micro} micro-credits is not exact`);
}

function limitPassed(party: LedgerParty, balance: bigint, added: bigint, isGrant: boolean): Error | null {
  const after = balance + added;
  if (party === "network") {
    if (!isGrant || after >= -MAX_ISSUED_MICRO) return null;
    const most = "4,611,686,018,427 credits";
    return new ServiceError("bad_request", `With this grant the network would have issued more than ${most}`);
  }
  if (after < 0n) {
    if (party.startsWith("hold:"))
      return new Error(`${party} has ${balance} micro-credits; ${-added} were to leave it`);
    return new InsufficientCreditsError(-added, balance);
  }
  if (isGrant && added > 0n && after > MAX_GRANTED_MICRO) {
    const most = "9,007,199,254 credits";
    return new ServiceError("bad_request", `With this grant the account would have more than ${most}`);
  }
  return null;
}
