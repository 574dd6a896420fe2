import type { LedgerLine } from "../credits/account-lines.ts";
import type { Posting } from "../credits/postings.ts";
import type { Page } from "./page.ts";

export interface LedgerReport {
  /** Sum of all entries; 0 if the ledger is right. */
  readonly sumMicro: number;
  readonly entries: number;
  /** Number of transactions whose entries do not sum to zero. */
  readonly unbalancedTransactions: number;
  /** Parties whose stored balance is not the sum of their entries. */
  readonly wrongBalances: readonly { party: string; balanceMicro: number; entriesMicro: number }[];
  /** Accounts whose hold is not the sum of the prices of their unfinished jobs. */
  readonly wrongHolds: readonly { accountId: string; heldMicro: number; jobsMicro: number }[];
}

/** Append-only double-entry ledger. Source: DESIGN §4, row Credits. */
export interface LedgerStore {
  /**
   * Stores postings that belong to no job: a grant.
   * @throws the refusal of the postings (`refusalOf`); nothing is stored.
   */
  post(postings: readonly Posting[], atMs: number): Promise<void>;
  /** Movements of the account's credits, newest first. `total` counts all. */
  list(accountId: string, page: Page): Promise<{ lines: LedgerLine[]; total: number }>;
  /** Recomputes every balance from the entries, in one consistent read. */
  verify(): Promise<LedgerReport>;
}
