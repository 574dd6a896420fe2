import { LAST_LINE, moveCursor, usageCursorTable } from "./entries-cursor.ts";
import { DAY_MS, type UtcDay } from "./host-metrics.ts";
import { assertPage, type Page } from "../steps/page.ts";
import { pageRead, write } from "../steps/steps.ts";
import { integer, key, small, Table, type RowOf } from "../steps/table.ts";
import { byBytes, someRows, type Tx } from "../steps/tx.ts";

/** Kinds of usage. `spent`: charges for jobs of the account. `earned`: earnings of its Islands. */
export const USAGE_KINDS = ["spent", "earned"] as const;
type UsageKind = (typeof USAGE_KINDS)[number];

/** Dimensions by which usage lines can be grouped, besides their kind. */
export const USAGE_GROUPS = ["day", "cargo", "key"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

const KEY = "account_id, day, kind, slug, key_id";

/**
 * Spending and earnings of each account per day, equal to the ledger. Entries are aggregated periodically, each exactly
 * once; a read adds the entries after the cursor, so a job causes no extra write.
 */
export const usageTable = new Table(
  "account_usage",
  {
    accountId: key(),
    /** Day on which the jobs ended, in UTC. */
    day: small<UtcDay>(),
    kind: key<UsageKind>("CHECK (kind IN ('spent', 'earned'))"),
    slug: key(),
    /** Id of the API key that submitted the jobs; empty for a session and for earnings. */
    keyId: key(),
    micro: integer(),
    /** Number of jobs with a charge or an earning. */
    jobs: integer(),
    promptTokens: integer(),
    completionTokens: integer(),
  },
  {
    rules: [`PRIMARY KEY (${KEY})`],
    indexes: ["CREATE INDEX account_usage_by_day ON account_usage (day)"],
    fillfactor: 70,
  },
);

export interface UsageFilter {
  /** First and last day of the report, both inclusive. */
  readonly fromDay: UtcDay;
  readonly toDay: UtcDay;
  readonly kind?: UsageKind | undefined;
  readonly slug?: string | undefined;
  readonly keyId?: string | undefined;
}

/** Costs or earnings of several jobs. A dimension by which lines are not grouped is null. */
export interface UsageLine extends Omit<RowOf<typeof usageTable>, "accountId" | "day" | "slug" | "keyId"> {
  readonly day: UtcDay | null;
  readonly slug: string | null;
  /** Id of the API key; also null for jobs of a session and for earnings. */
  readonly keyId: string | null;
}

interface UsageTotals {
  /** Number of lines on all pages. */
  readonly total: number;
  readonly spentMicro: number;
  readonly earnedMicro: number;
}

export interface UsageReport extends UsageTotals {
  /** Lines of the page, newest day first, then by kind, Cargo and key. */
  readonly lines: readonly UsageLine[];
}

const COLUMNS = `CASE entry.kind WHEN 'charge' THEN jobs.account_id ELSE substr(entry.party, 8) END AS account_id,
  CAST(first.at_ms / ${DAY_MS} AS integer) AS day, CASE entry.kind WHEN 'charge' THEN 'spent' ELSE 'earned' END AS kind,
  jobs.slug AS slug, CASE entry.kind WHEN 'charge' THEN coalesce(api_keys.id, '') ELSE '' END AS key_id,
  CAST(sum(abs(entry.micro)) AS bigint) AS micro, count(*) AS jobs,
  CAST(sum(coalesce(jobs.prompt_tokens, 0)) AS bigint) AS prompt_tokens,
  CAST(sum(coalesce(jobs.completion_tokens, 0)) AS bigint) AS completion_tokens`;
/**
 * SQL: joins an entry with the first entry of its transaction, which contains the job and the time, and with the job
 * and its key.
 */
const JOINS = `JOIN entries AS first ON first.id = entry.txn JOIN jobs ON jobs.id = first.job_id
  LEFT JOIN api_keys ON api_keys.number = jobs.key_number`;
const GROUP = "GROUP BY 1, 2, 3, 4, 5";
const CURSOR = "(SELECT entry FROM usage_cursor)";

/** Returns a FROM clause for the account's entries after the cursor. */
function unsummed({ dialect }: Tx): string {
  const client = "'client:' || @accountId";
  const hold = "'hold:' || @accountId";
  if (dialect === "postgres") {
    // Both conditions match the index `entries_by_account`.
    return `(SELECT txn, party, micro, kind FROM entries WHERE party = ${client} AND party LIKE 'client:%' AND kind = 'earning'
        AND id > ${CURSOR}
      UNION ALL
      SELECT txn, party, micro, kind FROM entries WHERE party = ${hold} AND kind = 'charge' AND id > ${CURSOR})
      AS entry ${JOINS}`;
  }
  return `entries AS entry ${JOINS} WHERE entry.id IN (
      SELECT entry FROM ledger_lines WHERE party = ${client} AND entry > ${CURSOR}
      UNION ALL SELECT entry FROM ledger_lines WHERE party = ${hold} AND entry > ${CURSOR}
      UNION ALL SELECT id FROM entries WHERE id > max(${CURSOR}, ${LAST_LINE}) AND party IN (${client}, ${hold})
    ) AND entry.kind IN ('charge', 'earning')`;
}

/** Returns SQL for the usage of `@accountId` from `@fromDay` to `@toDay`, as table rows; several may share a key. */
export function allUsage(tx: Tx): string {
  const columns = "day, kind, slug, key_id, micro, jobs, prompt_tokens, completion_tokens";
  return `SELECT ${columns} FROM account_usage WHERE account_id = @accountId AND day BETWEEN @fromDay AND @toDay
    UNION ALL
    SELECT ${columns} FROM (SELECT ${COLUMNS} FROM ${unsummed(tx)} ${GROUP}) AS unsummed
      WHERE day BETWEEN @fromDay AND @toDay`;
}

/**
 * Returns SQL for lines and totals in one statement, so that they agree. Without lines it returns one row of totals.
 */
export function reportSql(tx: Tx, groups: readonly UsageGroup[]): string {
  const by = (group: UsageGroup, column: string, type: string): string =>
    groups.includes(group) ? column : `CAST(NULL AS ${type})`;
  const order = `day DESC, ${byBytes(tx, "kind")}, ${byBytes(tx, "slug")}, ${byBytes(tx, "key_id")} NULLS FIRST`;
  return `WITH grouped AS MATERIALIZED (
      SELECT kind, ${by("day", "day", "integer")} AS day, ${by("cargo", "slug", "text")} AS slug,
        ${by("key", "nullif(key_id, '')", "text")} AS key_id, sum(micro) AS micro, sum(jobs) AS jobs,
        sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens
      FROM (${allUsage(tx)}) AS usage
      WHERE (CAST(@kind AS text) IS NULL OR kind = @kind) AND (CAST(@slug AS text) IS NULL OR slug = @slug)
        AND (CAST(@keyId AS text) IS NULL OR key_id = @keyId)
      GROUP BY 1, 2, 3, 4
    ), totals AS (
      SELECT count(*) AS total, coalesce(sum(micro) FILTER (WHERE kind = 'spent'), 0) AS spent_micro,
        coalesce(sum(micro) FILTER (WHERE kind = 'earned'), 0) AS earned_micro FROM grouped
    ), page AS (SELECT * FROM grouped ORDER BY ${order} LIMIT @limit OFFSET @offset)
    SELECT total, spent_micro AS "spentMicro", earned_micro AS "earnedMicro", kind, day, slug, key_id AS "keyId", micro, jobs,
      prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens"
    FROM totals LEFT JOIN page ON true ORDER BY ${order}`;
}

export const usageSteps = {
  read: pageRead(
    async (
      tx,
      accountId: string,
      filter: UsageFilter,
      groups: readonly UsageGroup[],
      page: Page,
    ): Promise<UsageReport> => {
      assertPage(page);
      type Row = UsageTotals & (UsageLine | { readonly kind: null });
      const rows = await tx.all<Row>(reportSql(tx, groups), { accountId, ...filter, ...page });
      const lines = rows.flatMap(({ total: _total, spentMicro: _spent, earnedMicro: _earned, ...line }) =>
        line.kind === null ? [] : [line],
      );
      const { total = 0, spentMicro = 0, earnedMicro = 0 } = rows[0] ?? {};
      return { lines, total, spentMicro, earnedMicro };
    },
  ),

  /** Aggregates at most `limit` ledger entries into usage. Resolves with true if there may be more. */
  sumUp: write((tx, limit: number) =>
    moveCursor(tx, usageCursorTable, limit, (range) => {
      const sql = `INSERT INTO account_usage (${KEY}, micro, jobs, prompt_tokens, completion_tokens)
        SELECT ${COLUMNS} FROM entries AS entry ${JOINS}
        WHERE entry.id > @from AND entry.id <= @upTo AND entry.kind IN ('charge', 'earning') ${GROUP}
        ON CONFLICT (${KEY}) DO UPDATE SET micro = account_usage.micro + excluded.micro,
          jobs = account_usage.jobs + excluded.jobs, prompt_tokens = account_usage.prompt_tokens + excluded.prompt_tokens,
          completion_tokens = account_usage.completion_tokens + excluded.completion_tokens`;
      return tx.run(sql, range);
    }),
  ),

  forgetDays: write((tx, beforeDay: UtcDay, limit: number) => {
    const sql = `DELETE FROM account_usage WHERE ${someRows(tx, "account_usage", KEY, "day < @beforeDay")}`;
    return tx.run(sql, { beforeDay, limit });
  }),
};
