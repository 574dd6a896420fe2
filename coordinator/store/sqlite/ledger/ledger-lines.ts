import type Database from "better-sqlite3";
import { linesOf, type LedgerLine, type LineEntry } from "../../../credits/account-lines.ts";
import type { Page } from "../../page.ts";

interface PageValues extends Page {
  readonly client: string;
  readonly hold: string;
}

/** The entries that make lines (see `LineEntry`). The index has exactly these. */
const CLIENT_ENTRIES = "FROM entries INDEXED BY entries_by_account WHERE party = @client AND party GLOB 'client:*'";
const HOLD_CHARGES = "FROM entries INDEXED BY entries_by_account WHERE party = @hold AND kind = 'charge'";
const LINE_COLUMNS = "id, kind, micro, job_id AS subjectId, at_ms AS atMs";

/** Skipped lines are skipped in the index, without reading the table. */
export const LEDGER_SQL = {
  page: `SELECT ${LINE_COLUMNS} FROM entries WHERE id IN (
    SELECT id ${CLIENT_ENTRIES} UNION ALL SELECT id ${HOLD_CHARGES} ORDER BY id DESC LIMIT @limit OFFSET @offset
  ) ORDER BY id DESC`,
  count: `SELECT (SELECT count(*) ${CLIENT_ENTRIES}) + (SELECT count(*) ${HOLD_CHARGES})`,
  balanceAt: `SELECT micro - coalesce((SELECT sum(micro) ${CLIENT_ENTRIES} AND id > @id), 0) FROM balances
    WHERE party = @client`,
} as const;

/** Reads an account's ledger. A line's balance is computed back from the present one, so that a page costs no more than its offset. */
export class LedgerLines {
  readonly #read: (values: PageValues) => { lines: LedgerLine[]; total: number };

  constructor(db: Database.Database) {
    const page = db.prepare<[PageValues], LineEntry>(LEDGER_SQL.page);
    const count = db.prepare<[PageValues], number>(LEDGER_SQL.count).pluck();
    const balanceAt = db.prepare<{ client: string; id: number }, number>(LEDGER_SQL.balanceAt).pluck();
    // One transaction, so that page, count and balance belong to the same state.
    this.#read = db.transaction((values: PageValues) => {
      const rows = page.all(values);
      const [newest] = rows;
      const balanceMicro = newest === undefined ? 0 : (balanceAt.get({ client: values.client, id: newest.id }) ?? 0);
      return { lines: linesOf(rows, balanceMicro), total: count.get(values) ?? 0 };
    });
  }

  read(accountId: string, page: Page): { lines: LedgerLine[]; total: number } {
    return this.#read({ client: `client:${accountId}`, hold: `hold:${accountId}`, ...page });
  }
}
