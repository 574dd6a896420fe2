import { DAY_MS } from "../../host-figures-store.ts";
import { assertPage } from "../../page.ts";
import type { UsageGroup, UsageReport, UsageStore } from "../../usage-store.ts";
import type { Database } from "../engine/database.ts";
import { moveCursor } from "../ledger/entries-cursor.ts";

export class PostgresUsageStore implements UsageStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async read(...[accountId, filter, groups, page]: Parameters<UsageStore["read"]>): Promise<UsageReport> {
    assertPage(page);
    const { fromDay, toDay, kind, slug, keyId } = filter;
    const values = [accountId, fromDay, toDay, kind ?? null, slug ?? null, keyId ?? null];
    return this.#db.use(async (session) => {
      // One statement, so that sums and cursor, lines and totals belong to the same state.
      const row = await session.one<{ report: UsageReport }>(reportSql(groups), [...values, page.limit, page.offset]);
      if (row === undefined) throw new Error("A report of usage has one row");
      return row.report;
    });
  }

  sumUp(limit: number): Promise<boolean> {
    return this.#db.transact((session) =>
      moveCursor(session, "usage_cursor", limit, (from, upTo) => session.run(SUM_UP, [from, upTo])),
    );
  }

  forgetDays(beforeDay: number, limit: number): Promise<number> {
    return this.#db.use((session) =>
      session.run(
        "DELETE FROM account_usage WHERE ctid = ANY (ARRAY(SELECT ctid FROM account_usage WHERE day < $1 LIMIT $2))",
        [beforeDay, limit],
      ),
    );
  }
}

/** Columns of account_usage, in order, from entries that are charges and earnings. */
const COLUMNS = `CASE entry.kind WHEN 'charge' THEN jobs.account_id ELSE substr(entry.party, 8) END, (first.at_ms / ${DAY_MS})::int AS day,
  CASE entry.kind WHEN 'charge' THEN 'spent' ELSE 'earned' END AS kind, jobs.slug,
  CASE entry.kind WHEN 'charge' THEN coalesce(api_keys.id, '') ELSE '' END AS key_id, sum(abs(entry.micro))::bigint AS micro,
  count(*)::bigint AS jobs, sum(coalesce(jobs.prompt_tokens, 0))::bigint AS prompt_tokens,
  sum(coalesce(jobs.completion_tokens, 0))::bigint AS completion_tokens`;
const JOINS = `JOIN entries AS first ON first.id = entry.txn JOIN jobs ON jobs.id = first.job_id
  LEFT JOIN api_keys ON api_keys.number = jobs.key_number`;

const SUM_UP = `INSERT INTO account_usage (account_id, day, kind, slug, key_id, micro, jobs, prompt_tokens, completion_tokens)
  SELECT ${COLUMNS} FROM entries AS entry ${JOINS}
  WHERE entry.id > $1 AND entry.id <= $2 AND entry.kind IN ('charge', 'earning') GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (account_id, day, kind, slug, key_id) DO UPDATE SET micro = account_usage.micro + excluded.micro,
    jobs = account_usage.jobs + excluded.jobs, prompt_tokens = account_usage.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = account_usage.completion_tokens + excluded.completion_tokens`;

/** $1 to $3: account and days. Sums, and the entries of the account that are not summed up yet, which the index entries_by_account has. */
export const ALL_USAGE = `SELECT day, kind, slug, key_id, micro, jobs, prompt_tokens, completion_tokens FROM account_usage
    WHERE account_id = $1 AND day BETWEEN $2 AND $3
  UNION ALL
  SELECT day, kind, slug, key_id, micro, jobs, prompt_tokens, completion_tokens FROM (
    SELECT ${COLUMNS} FROM (
      SELECT txn, party, micro, kind FROM entries WHERE party = 'client:' || $1 AND party LIKE 'client:%' AND kind = 'earning'
        AND id > (SELECT entry FROM usage_cursor)
      UNION ALL
      SELECT txn, party, micro, kind FROM entries WHERE party = 'hold:' || $1 AND kind = 'charge'
        AND id > (SELECT entry FROM usage_cursor)
    ) AS entry ${JOINS} GROUP BY 1, 2, 3, 4, 5
  ) AS unsummed WHERE day BETWEEN $2 AND $3`;

/** $1 to $8: account, days, kind, Cargo, key, limit and offset. */
function reportSql(groups: readonly UsageGroup[]): string {
  const by = (group: UsageGroup, column: string, type: string): string =>
    groups.includes(group) ? column : `NULL::${type}`;
  return `WITH grouped AS MATERIALIZED (
      SELECT kind, ${by("day", "day", "int")} AS day, ${by("cargo", "slug", "text")} AS slug,
        ${by("key", "nullif(key_id, '')", "text")} AS key_id, sum(micro) AS micro, sum(jobs) AS jobs,
        sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens
      FROM (${ALL_USAGE}) AS usage
      WHERE ($4::text IS NULL OR kind = $4) AND ($5::text IS NULL OR slug = $5) AND ($6::text IS NULL OR key_id = $6)
      GROUP BY 1, 2, 3, 4
    ), page AS (
      SELECT jsonb_build_object('kind', kind, 'day', day, 'slug', slug, 'keyId', key_id, 'micro', micro, 'jobs', jobs,
        'promptTokens', prompt_tokens, 'completionTokens', completion_tokens) AS line,
        row_number() OVER (ORDER BY day DESC, kind COLLATE "C", slug COLLATE "C", key_id COLLATE "C" NULLS FIRST) AS n
      FROM grouped ORDER BY n LIMIT $7 OFFSET $8
    )
    SELECT jsonb_build_object('lines', coalesce((SELECT jsonb_agg(line ORDER BY n) FROM page), '[]'), 'total', count(*),
      'spentMicro', coalesce(sum(micro) FILTER (WHERE kind = 'spent'), 0),
      'earnedMicro', coalesce(sum(micro) FILTER (WHERE kind = 'earned'), 0)) AS report FROM grouped`;
}
