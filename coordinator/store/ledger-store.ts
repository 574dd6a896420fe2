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

/** Append-only double-entry ledger. Source: DESIGN §4, row Credits. */
export interface LedgerStore {
  /** Issues credits to an account: network to client. `micro` positive. @throws {ServiceError} `not_found`. */
  grant(accountId: string, micro: number, atMs: number): Promise<void>;
  /** Recomputes everything from the entries, in one consistent read. */
  verify(): Promise<LedgerReport>;
}
