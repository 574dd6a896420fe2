import type Database from "better-sqlite3";
import { linesOf, type LedgerLine, type LineEntry } from "../../../credits/account-lines.ts";
import type { Page } from "../../page.ts";

interface PageValues extends Page {
  readonly client: string;
  readonly hold: string;
}

/** The entries that make lines (see `LineEntry`): of the client, charges of the hold, and the newest of both. */
const CLIENT_LINES = "FROM ledger_lines WHERE party = @client";
const CHARGE_LINES = "FROM ledger_lines WHERE party = @hold";
/** At most 255 entries: `ledger_lines` gets 256 at a time. */
const NEWEST = "FROM entries WHERE id > (SELECT max(id) FROM entries) / 256 * 256";
const NEWEST_LINES = `${NEWEST} AND (party = @client OR (party = @hold AND kind = 'charge'))`;
/** Of a job, or of a batch. */
const SLUG = `coalesce((SELECT slug FROM jobs WHERE jobs.id = first.job_id), (SELECT slug FROM batches WHERE batches.id = first.job_id))`;
/** Subject and time are in the first entry of a transaction. */
const LINE_COLUMNS = `entries.id, entries.kind, entries.micro, first.job_id AS subjectId, ${SLUG} AS slug, first.at_ms AS atMs`;

/** Skipped lines are skipped in `ledger_lines`, without reading the entries. */
export const LEDGER_SQL = {
  page: `SELECT ${LINE_COLUMNS} FROM entries JOIN entries AS first ON first.id = entries.txn WHERE entries.id IN (
    SELECT id ${NEWEST_LINES} UNION ALL SELECT entry ${CLIENT_LINES} UNION ALL SELECT entry ${CHARGE_LINES}
    ORDER BY id DESC LIMIT @limit OFFSET @offset
  ) ORDER BY entries.id DESC`,
  count: `SELECT (SELECT count(*) ${NEWEST_LINES}) + (SELECT count(*) ${CLIENT_LINES}) + (SELECT count(*) ${CHARGE_LINES})`,
  balanceAt: `SELECT micro - coalesce((SELECT sum(micro) ${NEWEST} AND party = @client AND id > @id), 0)
    - coalesce((SELECT sum(micro) ${CLIENT_LINES} AND entry > @id), 0) FROM balances WHERE party = @client`,
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

/** After entries were copied, whose ids may have gaps: the trigger has made lines only where an id that 256 divides was among them. */
export function rebuildLedgerLines(db: Database.Database): void {
  db.exec(`DELETE FROM ledger_lines;
    INSERT INTO ledger_lines (party, entry, micro)
      SELECT party, id, micro FROM entries
      WHERE id <= (SELECT max(id) FROM entries) / 256 * 256 AND (kind = 'charge' OR party GLOB 'client:*')
      ORDER BY party, id`);
}
