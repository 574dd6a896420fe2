import { linesOf, type LedgerLine, type LineEntry } from "../../../credits/account-lines.ts";
import type { Posting } from "../../../credits/postings.ts";
import type { LedgerReport, LedgerStore } from "../../ledger-store.ts";
import { assertPage, type Page } from "../../page.ts";
import type { Database } from "../engine/database.ts";
import { foldNetworkMoves, post } from "./post.ts";

/** The entries that make lines (see `LineEntry`). The index has exactly these. */
const CLIENT_ENTRIES = "FROM entries WHERE party = $1 AND party LIKE 'client:%'";
/** Of a job, or of a batch. */
const SLUG = `coalesce((SELECT slug FROM jobs WHERE jobs.id = entries.job_id),
  (SELECT slug FROM batches WHERE batches.id = entries.job_id))`;
const HOLD_CHARGES = "FROM entries WHERE party = $2 AND kind = 'charge'";

export class PostgresLedgerStore implements LedgerStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  post(postings: readonly Posting[], atMs: number): Promise<void> {
    return this.#db.transact((session) => post(session, postings, atMs));
  }

  async list(accountId: string, page: Page): Promise<{ lines: LedgerLine[]; total: number }> {
    assertPage(page);
    const parties = [`client:${accountId}`, `hold:${accountId}`];
    // One state for page, count and balance.
    return this.#db.transact(async (session) => {
      const rows = await session.all<LineEntry>(
        `SELECT id, kind, micro, job_id AS "subjectId", ${SLUG} AS slug, at_ms AS "atMs" FROM entries WHERE id IN (
           SELECT id ${CLIENT_ENTRIES} UNION ALL SELECT id ${HOLD_CHARGES} ORDER BY id DESC LIMIT $3 OFFSET $4)
         ORDER BY id DESC`,
        [...parties, page.limit, page.offset],
      );
      const counted = await session.one<{ total: number }>(
        `SELECT (SELECT count(*) ${CLIENT_ENTRIES}) + (SELECT count(*) ${HOLD_CHARGES}) AS total`,
        parties,
      );
      const [newest] = rows;
      const balance = await session.one<{ micro: number }>(
        `SELECT micro - coalesce((SELECT sum(micro) ${CLIENT_ENTRIES} AND id > $2), 0) AS micro FROM balances WHERE party = $1`,
        [parties[0], newest?.id ?? 0],
      );
      return {
        lines: newest === undefined ? [] : linesOf(rows, balance?.micro ?? 0),
        total: counted?.total ?? 0,
      };
    }, "REPEATABLE READ");
  }

  verify(): Promise<LedgerReport> {
    return this.#db.transact(async (session) => {
      // It reads all, which an index would only slow down.
      await session.run("SET LOCAL enable_seqscan = on");
      await foldNetworkMoves(session);
      const totals = await session.one<{ sumMicro: number; entries: number }>(
        `SELECT coalesce(sum(micro), 0) AS "sumMicro", count(*) AS entries FROM entries`,
      );
      const unbalanced = await session.one<{ count: number }>(
        "SELECT count(*) FROM (SELECT txn FROM entries GROUP BY txn HAVING sum(micro) <> 0) AS unbalanced",
      );
      const wrongBalances = await session.all<LedgerReport["wrongBalances"][number]>(
        `SELECT party, coalesce(micro, 0) AS "balanceMicro", coalesce(total, 0) AS "entriesMicro"
         FROM balances FULL JOIN (SELECT party, sum(micro) AS total FROM entries GROUP BY party) AS sums USING (party)
         WHERE micro IS NULL OR micro <> coalesce(total, 0) ORDER BY party`,
      );
      const wrongHolds = await session.all<LedgerReport["wrongHolds"][number]>(
        `SELECT accounts.id AS "accountId", coalesce(micro, 0) AS "heldMicro", coalesce(total, 0) AS "jobsMicro"
         FROM accounts LEFT JOIN balances ON party = 'hold:' || accounts.id
         LEFT JOIN (
           SELECT account_id, sum(price_micro) AS total FROM jobs WHERE completed_at_ms IS NULL GROUP BY account_id
         ) AS held ON account_id = accounts.id
         WHERE coalesce(micro, 0) <> coalesce(total, 0) ORDER BY accounts.id`,
      );
      return {
        sumMicro: totals?.sumMicro ?? 0,
        entries: totals?.entries ?? 0,
        unbalancedTransactions: unbalanced?.count ?? 0,
        wrongBalances,
        wrongHolds,
      };
    }, "REPEATABLE READ");
  }
}
