import { linesOf, type LedgerLine, type LineEntry } from "../credits/account-lines.ts";
import type { Posting } from "../credits/postings.ts";
import { assertPage, type Page } from "./page.ts";
import { snapshotRead, write } from "./steps.ts";
import { integer, key, Table, written } from "./table.ts";
import type { Dialect, Tx } from "./tx.ts";

/** What an operator said of a grant, by the first entry of its movement. */
export const ledgerNoteTable = new Table(
  "ledger_notes",
  { txn: integer("PRIMARY KEY"), note: written() },
  { hasRowid: true },
);

/** An index of the entries that make lines of an account's ledger, which a trigger fills 256 entries at a time. */
export const ledgerLineTable = new Table(
  "ledger_lines",
  { party: key(), entry: integer(), micro: integer() },
  { onlyIn: "sqlite", rules: ["PRIMARY KEY (party, entry)"] },
);

/** What was appended for the network, and is not folded into its balance yet. */
export const networkMoveTable = new Table("network_moves", { micro: integer() }, { onlyIn: "postgres" });

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

type Rows = readonly [id: string, from: string];

/** At most 255 entries: `ledger_lines` gets 256 at a time. */
const NEWEST = "FROM entries WHERE id > (SELECT max(id) FROM entries) / 256 * 256";
/** Where the entries are that make lines (see `LineEntry`): of the client, and charges of the hold. And those of the client only. */
const SOURCES: Readonly<Record<Dialect, { readonly lines: readonly Rows[]; readonly moves: readonly Rows[] }>> = {
  sqlite: {
    lines: [
      ["id", `${NEWEST} AND (party = @client OR (party = @hold AND kind = 'charge'))`],
      ["entry", "FROM ledger_lines WHERE party = @client"],
      ["entry", "FROM ledger_lines WHERE party = @hold"],
    ],
    moves: [
      ["id", `${NEWEST} AND party = @client`],
      ["entry", "FROM ledger_lines WHERE party = @client"],
    ],
  },
  // The index `entries_by_account` has exactly these.
  postgres: {
    lines: [
      ["id", "FROM entries WHERE party = @client AND party LIKE 'client:%'"],
      ["id", "FROM entries WHERE party = @hold AND kind = 'charge'"],
    ],
    moves: [["id", "FROM entries WHERE party = @client AND party LIKE 'client:%'"]],
  },
};

function ledgerSql(dialect: Dialect) {
  const { lines, moves } = SOURCES[dialect];
  const ids = lines.map(([id, from]) => `SELECT ${id} ${from}`).join(" UNION ALL ");
  const later = moves.map(([id, from]) => `coalesce((SELECT sum(micro) ${from} AND ${id} > @id), 0)`);
  return {
    // Subject and time are in the first entry of a movement.
    page: `SELECT entries.id, entries.kind, entries.micro, first.job_id AS "subjectId", first.at_ms AS "atMs", note,
        coalesce((SELECT slug FROM jobs WHERE id = first.job_id), (SELECT slug FROM batches WHERE id = first.job_id)) AS slug
      FROM entries JOIN entries AS first ON first.id = entries.txn
      LEFT JOIN ledger_notes ON ledger_notes.txn = entries.txn
      WHERE entries.id IN (${ids} ORDER BY id DESC LIMIT @limit OFFSET @offset) ORDER BY entries.id DESC`,
    count: `SELECT ${lines.map(([, from]) => `(SELECT count(*) ${from})`).join(" + ")} AS total`,
    balanceAt: `SELECT micro - ${later.join(" - ")} AS micro FROM balances WHERE party = @client`,
  };
}

/** Skipped lines are skipped in an index, without reading the entries. */
export const LEDGER_SQL = { sqlite: ledgerSql("sqlite"), postgres: ledgerSql("postgres") } as const;

/** A line's balance is computed back from the present one, so that a page costs no more than its offset. */
export async function readLedger(
  tx: Tx,
  accountId: string,
  page: Page,
): Promise<{ lines: LedgerLine[]; total: number }> {
  const { dialect } = tx;
  const values = { client: `client:${accountId}`, hold: `hold:${accountId}`, ...page };
  const { total } = await tx.only<{ total: number }>(LEDGER_SQL[dialect].count, values);
  const rows = await ledgerNoteTable.rows<LineEntry>(tx, LEDGER_SQL[dialect].page, values);
  const [newest] = rows;
  if (newest === undefined) return { lines: [], total };
  const { micro } = await tx.only<{ micro: number }>(LEDGER_SQL[dialect].balanceAt, { ...values, id: newest.id });
  return { lines: linesOf(rows, micro), total };
}

/** Append-only double-entry ledger. Source: DESIGN §4, row Credits. */
export const ledgerSteps = {
  /**
   * Stores postings that belong to no job: a grant.
   * @throws the refusal of the postings (`refusalOf`); nothing is stored.
   */
  post: write((tx, postings: readonly Posting[], atMs: number) => tx.post(postings, atMs)),

  /** Movements of the account's credits, newest first. `total` counts all. */
  list: snapshotRead(async (tx, accountId: string, page: Page) => {
    assertPage(page);
    return readLedger(tx, accountId, page);
  }),

  /** Recomputes every balance from the entries. */
  verify: snapshotRead(verifyLedger),
};

export async function verifyLedger(tx: Tx): Promise<LedgerReport> {
  const { dialect } = tx;
  // It reads all, which an index would only slow down.
  if (dialect === "postgres") await tx.run("SET LOCAL enable_seqscan = on");
  const balances = dialect === "sqlite" ? "balances" : FOLDED_BALANCES;
  const totals = await tx.only<Pick<LedgerReport, "sumMicro" | "entries">>(
    `SELECT coalesce(sum(micro), 0) AS "sumMicro", count(*) AS entries FROM entries`,
  );
  const unbalanced = await tx.only<{ count: number }>(
    "SELECT count(*) AS count FROM (SELECT txn FROM entries GROUP BY txn HAVING sum(micro) <> 0) AS unbalanced",
  );
  const wrongBalances = await tx.all<LedgerReport["wrongBalances"][number]>(
    `SELECT party, coalesce(micro, 0) AS "balanceMicro", coalesce(total, 0) AS "entriesMicro"
     FROM ${balances} FULL JOIN (SELECT party, sum(micro) AS total FROM entries GROUP BY party) AS sums USING (party)
     WHERE micro IS NULL OR micro <> coalesce(total, 0) ORDER BY party`,
  );
  const wrongHolds = await tx.all<LedgerReport["wrongHolds"][number]>(
    `SELECT accounts.id AS "accountId", coalesce(micro, 0) AS "heldMicro", coalesce(total, 0) AS "jobsMicro"
     FROM accounts LEFT JOIN balances ON party = 'hold:' || accounts.id
     LEFT JOIN (
       SELECT account_id, sum(price_micro) AS total FROM jobs WHERE completed_at_ms IS NULL GROUP BY account_id
     ) AS held ON account_id = accounts.id
     WHERE coalesce(micro, 0) <> coalesce(total, 0) ORDER BY accounts.id`,
  );
  return { ...totals, unbalancedTransactions: unbalanced.count, wrongBalances, wrongHolds };
}

/** With what was appended for the network and is not in its row yet. */
const FOLDED_BALANCES = `(SELECT party, micro + CASE party WHEN 'network'
    THEN (SELECT coalesce(sum(micro), 0) FROM network_moves) ELSE 0 END AS micro FROM balances) AS balances`;

/** Adds what was appended for the network to its row. */
export async function foldNetworkMoves(tx: Tx): Promise<void> {
  await tx.run(
    `WITH gone AS (DELETE FROM network_moves RETURNING micro)
     UPDATE balances SET micro = micro + (SELECT coalesce(sum(micro), 0) FROM gone) WHERE party = 'network'`,
  );
}
