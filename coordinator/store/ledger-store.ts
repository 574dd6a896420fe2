import type { Page } from "./page.ts";

/**
 * Parties of the ledger. `client`: what an account may spend, its earnings included. `hold`: what is set aside for its unfinished
 * jobs. `network`: the operator, who issues credits (its balance is minus what was issued, plus fees).
 */
export type LedgerParty = `client:${string}` | `hold:${string}` | "network";
export const LEDGER_KINDS = ["grant", "hold", "charge", "release", "earning", "fee"] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

export interface LedgerReport {
  /** Sum over all entries, 0 when the books are right. */
  readonly sumMicro: number;
  readonly entries: number;
  /** Transactions whose own entries do not sum to zero. */
  readonly unbalancedTransactions: number;
  /** Parties whose stored balance is not the sum of their entries. */
  readonly wrongBalances: readonly { party: string; balanceMicro: number; entriesMicro: number }[];
  /** Holds that are not those of the unfinished jobs of the account. */
  readonly wrongHolds: readonly { accountId: string; heldMicro: number; jobsMicro: number }[];
}

/** One movement of an account's credits, in the account's own eyes. */
export interface LedgerLine {
  /** Grows with time. */
  readonly id: number;
  readonly kind: Exclude<LedgerKind, "fee">;
  /** What it adds to what may be spent; 0 for a charge, which takes what is held. */
  readonly micro: number;
  /** What it adds to what is held for unfinished jobs. */
  readonly heldMicro: number;
  /** What may be spent after it. */
  readonly balanceMicro: number;
  /** The job that was submitted, run or earned by; null for a grant and for the hold of a batch. */
  readonly jobId: string | null;
  /** Of a hold: the batch whose jobs it is for, which settle under their own ids. */
  readonly batchId: string | null;
  readonly atMs: number;
}

/** Append-only double-entry ledger. Source: DESIGN §4, row Credits. */
export interface LedgerStore {
  /**
   * Issues credits to an account: network to client. `micro` positive.
   * @throws {ServiceError} `not_found`; `bad_request` beyond what an account can hold (2^53 micro-credits) or the network issue (2^62).
   */
  grant(accountId: string, micro: number, atMs: number): Promise<void>;
  /** What moved the account's credits, newest first. `limit` 1 to 100; `total` counts all. */
  list(accountId: string, page: Page): Promise<{ lines: LedgerLine[]; total: number }>;
  /** Recomputes everything from the entries, in one consistent read. */
  verify(): Promise<LedgerReport>;
}
