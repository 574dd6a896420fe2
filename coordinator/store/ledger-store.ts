import type { LedgerLine } from "../credits/account-lines.ts";
import type { Posting } from "../credits/postings.ts";
import type { Page } from "./page.ts";

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

/** Append-only double-entry ledger. Source: DESIGN §4, row Credits. */
export interface LedgerStore {
  /**
   * Stores postings that belong to no job: a grant.
   * @throws what `refusalOf` says of the postings; nothing is stored.
   */
  post(postings: readonly Posting[], atMs: number): Promise<void>;
  /** What moved the account's credits, newest first. `limit` 1 to 100; `total` counts all. */
  list(accountId: string, page: Page): Promise<{ lines: LedgerLine[]; total: number }>;
  /** Recomputes everything from the entries, in one consistent read. */
  verify(): Promise<LedgerReport>;
}
