import type Database from "better-sqlite3";
import type { LedgerReport } from "../../ledger-store.ts";

type WrongBalance = LedgerReport["wrongBalances"][number];
type WrongHold = LedgerReport["wrongHolds"][number];

/** Recomputes every balance from the entries. */
export function prepareVerify(db: Database.Database): () => LedgerReport {
  const totals = db.prepare<[], { sumMicro: number; entries: number }>(
    "SELECT coalesce(sum(micro), 0) AS sumMicro, count(*) AS entries FROM entries",
  );
  const unbalanced = db
    .prepare<[], number>("SELECT count(*) FROM (SELECT txn FROM entries GROUP BY txn HAVING sum(micro) <> 0)")
    .pluck();
  const wrongBalances = db.prepare<[], WrongBalance>(
    `SELECT party, coalesce(micro, 0) AS balanceMicro, coalesce(total, 0) AS entriesMicro
     FROM balances FULL JOIN (SELECT party, sum(micro) AS total FROM entries GROUP BY party) USING (party)
     WHERE micro IS NULL OR micro <> coalesce(total, 0) ORDER BY party`,
  );
  const wrongHolds = db.prepare<[], WrongHold>(
    `SELECT accounts.id AS accountId, coalesce(micro, 0) AS heldMicro, coalesce(total, 0) AS jobsMicro
     FROM accounts LEFT JOIN balances ON party = 'hold:' || accounts.id
     LEFT JOIN (
       SELECT account_id, sum(price_micro) AS total FROM jobs WHERE completed_at_ms IS NULL GROUP BY account_id
     ) ON account_id = accounts.id
     WHERE coalesce(micro, 0) <> coalesce(total, 0) ORDER BY accounts.id`,
  );
  // One transaction, so that all parts belong to the same state.
  return db.transaction(() => ({
    ...(totals.get() ?? { sumMicro: 0, entries: 0 }),
    unbalancedTransactions: unbalanced.get() ?? 0,
    wrongBalances: wrongBalances.all(),
    wrongHolds: wrongHolds.all(),
  }));
}
