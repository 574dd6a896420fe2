import type Database from "better-sqlite3";
import type { LedgerLine } from "../../../credits/account-lines.ts";
import type { Posting } from "../../../credits/postings.ts";
import type { LedgerReport, LedgerStore } from "../../ledger-store.ts";
import { assertPage, type Page } from "../../page.ts";
import type { Reader } from "../engine/reader.ts";
import type { Writer } from "../engine/writer.ts";

type WrongBalance = LedgerReport["wrongBalances"][number];
type WrongHold = LedgerReport["wrongHolds"][number];

export class SqliteLedgerStore implements LedgerStore {
  readonly #writer: Pick<Writer, "run">;
  readonly #reader: Pick<Reader, "run">;
  readonly #verify: () => LedgerReport;

  constructor(db: Database.Database, reader: Pick<Reader, "run">, writer: Pick<Writer, "run">) {
    this.#reader = reader;
    this.#writer = writer;
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
    this.#verify = db.transaction(() => ({
      ...(totals.get() ?? { sumMicro: 0, entries: 0 }),
      unbalancedTransactions: unbalanced.get() ?? 0,
      wrongBalances: wrongBalances.all(),
      wrongHolds: wrongHolds.all(),
    }));
  }

  post(postings: readonly Posting[], atMs: number): Promise<void> {
    return this.#writer.run("post", { postings, atMs });
  }

  async list(accountId: string, page: Page): Promise<{ lines: LedgerLine[]; total: number }> {
    assertPage(page);
    return this.#reader.run("ledger", { accountId, page });
  }

  async verify(): Promise<LedgerReport> {
    return this.#verify();
  }
}
