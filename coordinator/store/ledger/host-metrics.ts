import { earningsCursorTable, LAST_LINE, moveCursor } from "./entries-cursor.ts";
import { read, write } from "../steps/steps.ts";
import { integer, key, small, Table, type RowOf } from "../steps/table.ts";
import { jsonMember, jsonRows, someRows, type Tx } from "../steps/tx.ts";

/** A UTC day, as the number of days since 1 January 1970. */
export type UtcDay = number;

export const DAY_MS = 86_400_000;

export function utcDayOf(atMs: number): UtcDay {
  return Math.floor(atMs / DAY_MS);
}

const KEY = "account_id, host_id, day";
const RULES = [`PRIMARY KEY (${KEY})`];
/** Key of a row: an Island on a day, under the account that owned the Island then. */
const hostDay = { accountId: key(), hostId: key(), day: small<UtcDay>() };

/** Activity of each Island per day. Counts are collected in memory and added periodically. */
export const islandDayTable = new Table(
  "island_days",
  {
    ...hostDay,
    onlineMs: integer(),
    /** Jobs that ended on the Island, by outcome. */
    completed: integer(),
    failed: integer(),
    cancelled: integer(),
    timedOut: integer(),
    /** Attempts that failed or were lost on the Island and whose jobs were retried on any Island. */
    retried: integer(),
    /** Tokens of the jobs that ended on the Island. */
    tokens: integer(),
  },
  { rules: RULES, indexes: ["CREATE INDEX island_days_by_day ON island_days (day)"], fillfactor: 70 },
);

/**
 * Earnings of each Island per day, equal to the ledger. Entries are aggregated periodically, each exactly once; a read
 * adds the entries after the cursor.
 */
export const islandEarningTable = new Table(
  "island_earnings",
  { ...hostDay, micro: integer() },
  { rules: RULES, indexes: ["CREATE INDEX island_earnings_by_day ON island_earnings (day)"] },
);

type IslandDay = RowOf<typeof islandDayTable>;
export type HostDay = Pick<IslandDay, keyof typeof hostDay>;
export type HostCounts = Omit<IslandDay, keyof typeof hostDay>;
type HostEarning = Omit<RowOf<typeof islandEarningTable>, "accountId">;

export const NO_COUNTS: HostCounts = {
  onlineMs: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  timedOut: 0,
  retried: 0,
  tokens: 0,
};

export interface JobEarning {
  readonly jobId: string;
  readonly micro: number;
  readonly atMs: number;
}

/** Number of newest ledger lines of an account that a search for earnings of an Island reads. */
export const MAX_LINES = 2_000;

const IN_RANGE = "account_id = @accountId AND (CAST(@hostId AS text) IS NULL OR host_id = @hostId) AND day >= @fromDay";
/**
 * SQL: joins an entry with the first entry of its transaction, which contains the job and the time, and with the job.
 */
const JOINS = "JOIN entries AS first ON first.id = earning.txn JOIN jobs ON jobs.id = first.job_id";
const DAY = `CAST(first.at_ms / ${DAY_MS} AS integer)`;
const PARTY = "party = 'client:' || @accountId";
const CURSOR = "(SELECT entry FROM earnings_cursor)";
/** PostgreSQL condition with which the index `entries_by_account` finds the entries of the account. */
const INDEXED = "earning.party = 'client:' || @accountId AND earning.party LIKE 'client:%'";
const unsummed = ({ dialect }: Tx): string =>
  dialect === "postgres"
    ? `${INDEXED} AND earning.id > ${CURSOR}`
    : `earning.id IN (
        SELECT entry FROM ledger_lines WHERE ${PARTY} AND entry > ${CURSOR}
        UNION ALL SELECT id FROM entries WHERE id > max(${CURSOR}, ${LAST_LINE}) AND ${PARTY})`;

const lastLines = ({ dialect }: Tx): string =>
  dialect === "postgres"
    ? `(SELECT id, txn, micro, kind FROM entries AS earning WHERE ${INDEXED} ORDER BY id DESC LIMIT ${MAX_LINES}) AS earning ${JOINS} WHERE true`
    : `entries AS earning ${JOINS} WHERE earning.id IN (
        SELECT id FROM entries WHERE id > ${LAST_LINE} AND ${PARTY}
        UNION ALL
        SELECT entry FROM (SELECT entry FROM ledger_lines WHERE ${PARTY} ORDER BY entry DESC LIMIT ${MAX_LINES}))`;

/** Returns the key of a row. Keys sort like the rows. */
export const hostDayKey = ({ accountId, hostId, day }: HostDay): string => `${accountId} ${hostId} ${day}`;

export const hostMetricSteps = {
  addCounts: write(async (tx, rows: readonly IslandDay[]): Promise<void> => {
    // The sort order prevents a deadlock of two coordinators.
    const sorted = rows.toSorted((a, b) => (hostDayKey(a) < hostDayKey(b) ? -1 : 1));
    const member = (name: string, type: string): string => `CAST(${jsonMember(tx, "value", name)} AS ${type})`;
    const counts = Object.keys(NO_COUNTS);
    const columns = counts.map((name) => islandDayTable.columnName(name));
    const added = columns.map((column) => `${column} = island_days.${column} + excluded.${column}`);
    const sql = `INSERT INTO island_days (${KEY}, ${columns.join(", ")})
      SELECT ${member("accountId", "text")}, ${member("hostId", "text")}, ${member("day", "integer")},
        ${counts.map((name) => member(name, "bigint")).join(", ")}
      FROM ${jsonRows(tx, "rows")} WHERE true ON CONFLICT (${KEY}) DO UPDATE SET ${added.join(", ")}`;
    await tx.run(sql, { rows: JSON.stringify(sorted) });
  }),

  /** Returns the counts from `fromDay` on, in no defined order. `hostId`: null for all Islands of the account. */
  counts: read((tx, accountId: string, hostId: string | null, fromDay: UtcDay) => {
    const sql = `SELECT ${islandDayTable.all} FROM island_days WHERE ${IN_RANGE}`;
    return tx.all<IslandDay>(sql, { accountId, hostId, fromDay });
  }),

  /** Returns the earnings from `fromDay` on; a day may have several rows. `hostId`: null for all Islands. */
  earnings: read((tx, accountId: string, hostId: string | null, fromDay: UtcDay) => {
    // A single statement, so that sums and cursor come from one snapshot.
    const sql = `SELECT host_id AS "hostId", day, micro FROM island_earnings WHERE ${IN_RANGE}
      UNION ALL
      SELECT jobs.island_id, ${DAY} AS day, CAST(sum(earning.micro) AS bigint) FROM entries AS earning ${JOINS}
      WHERE ${unsummed(tx)} AND earning.kind = 'earning' AND jobs.island_id IS NOT NULL
        AND (CAST(@hostId AS text) IS NULL OR jobs.island_id = @hostId) AND ${DAY} >= @fromDay
      GROUP BY 1, 2`;
    return tx.all<HostEarning>(sql, { accountId, hostId, fromDay });
  }),

  /** Returns the newest earnings of an Island among the account's last {@link MAX_LINES} ledger lines, newest first. */
  recentEarnings: read((tx, accountId: string, hostId: string, limit: number) => {
    const sql = `SELECT jobs.id AS "jobId", earning.micro, first.at_ms AS "atMs" FROM ${lastLines(tx)}
      AND earning.kind = 'earning' AND jobs.island_id = @hostId ORDER BY earning.id DESC LIMIT @limit`;
    return tx.all<JobEarning>(sql, { accountId, hostId, limit });
  }),

  /** Aggregates at most `limit` ledger entries into earnings. Resolves with true if there may be more. */
  sumUpEarnings: write((tx, limit: number) =>
    moveCursor(tx, earningsCursorTable, limit, (range) => {
      const sql = `INSERT INTO island_earnings (${KEY}, micro)
        SELECT substr(earning.party, 8), jobs.island_id, ${DAY}, CAST(sum(earning.micro) AS bigint)
        FROM entries AS earning ${JOINS}
        WHERE earning.id > @from AND earning.id <= @upTo AND earning.kind = 'earning' AND jobs.island_id IS NOT NULL
        GROUP BY 1, 2, 3 ON CONFLICT (${KEY}) DO UPDATE SET micro = island_earnings.micro + excluded.micro`;
      return tx.run(sql, range);
    }),
  ),

  /** Resolves with the number of deleted rows. */
  forgetDays: write(async (tx, beforeDay: UtcDay, limit: number) => {
    const forget = (table: string): Promise<number> =>
      tx.run(`DELETE FROM ${table} WHERE ${someRows(tx, table, KEY, "day < @beforeDay")}`, { beforeDay, limit });
    return (await forget("island_days")) + (await forget("island_earnings"));
  }),
};
