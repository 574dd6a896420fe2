import type Database from "better-sqlite3";
import type { LedgerLine } from "../../ledger-store.ts";
import type { Page } from "../../page.ts";

type LineRow = Pick<LedgerLine, "id" | "kind" | "micro" | "atMs"> & {
  /** Id of a job, or of the batch that was submitted. */
  readonly subject: string | null;
};

interface PageValues extends Page {
  readonly client: string;
  readonly hold: string;
}

/** Entries of an account that are lines: its client's, and of its hold the charges. Both halves are what the index holds. */
const CLIENT_ENTRIES = "FROM entries INDEXED BY entries_by_account WHERE party = @client AND party GLOB 'client:*'";
const HOLD_CHARGES = "FROM entries INDEXED BY entries_by_account WHERE party = @hold AND kind = 'charge'";
const LINE_COLUMNS = "id, kind, micro, job_id AS subject, at_ms AS atMs";

/** Lines that a page skips are skipped in the index alone. */
export const LEDGER_SQL = {
  page: `SELECT ${LINE_COLUMNS} FROM entries WHERE id IN (
    SELECT id ${CLIENT_ENTRIES} UNION ALL SELECT id ${HOLD_CHARGES} ORDER BY id DESC LIMIT @limit OFFSET @offset
  ) ORDER BY id DESC`,
  count: `SELECT (SELECT count(*) ${CLIENT_ENTRIES}) + (SELECT count(*) ${HOLD_CHARGES})`,
  balanceAt: `SELECT micro - coalesce((SELECT sum(micro) ${CLIENT_ENTRIES} AND id > @id), 0) FROM balances
    WHERE party = @client`,
} as const;

/**
 * Reads an account's ledger. A hold and a release are two entries, one of the client and one of the hold, and make one line; a
 * charge is the hold's alone. The balance is counted back from the present one, so that a page costs no more than what it
 * skips.
 */
export class LedgerLines {
  readonly #read: (values: PageValues) => { lines: LedgerLine[]; total: number };

  constructor(db: Database.Database) {
    const page = db.prepare<[PageValues], LineRow>(LEDGER_SQL.page);
    const count = db.prepare<[PageValues], number>(LEDGER_SQL.count).pluck();
    const balanceAt = db.prepare<{ client: string; id: number }, number>(LEDGER_SQL.balanceAt).pluck();
    // One transaction: page, count and balance are read from one state of the database.
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

/** `rows`: newest first; `balanceMicro`: after the first of them. */
function linesOf(rows: readonly LineRow[], balanceMicro: number): LedgerLine[] {
  let balance = balanceMicro;
  return rows.map(({ micro: moved, subject, ...row }) => {
    const micro = row.kind === "charge" ? 0 : moved;
    const isBatch = subject?.startsWith("batch_") === true;
    const [jobId, batchId] = isBatch ? [null, subject] : [subject, null];
    const line = { ...row, jobId, batchId, micro, heldMicro: heldBy(row.kind, moved), balanceMicro: balance };
    balance -= micro;
    return line;
  });
}

function heldBy(kind: LedgerLine["kind"], moved: number): number {
  switch (kind) {
    case "hold":
    case "release":
      // What the client gives or gets back is what the hold gets or gives.
      return -moved;
    case "charge":
      return moved;
    case "grant":
    case "earning":
      return 0;
    default:
      return kind satisfies never;
  }
}
