import { DAY_MS } from "../../host-figures-store.ts";
import { type UsageFilter, type UsageGroup } from "../../usage-store.ts";

/** Columns of account_usage, in order, from entries that are charges and earnings. */
export const USAGE_COLUMNS =
  `CASE entry.kind WHEN 'charge' THEN jobs.account_id ELSE substr(entry.party, 8) END AS account_id,
  first.at_ms / ${DAY_MS} AS day, CASE entry.kind WHEN 'charge' THEN 'spent' ELSE 'earned' END AS kind, jobs.slug AS slug,
  CASE entry.kind WHEN 'charge' THEN coalesce(api_keys.id, '') ELSE '' END AS key_id, sum(abs(entry.micro)) AS micro,
  count(*) AS jobs, sum(coalesce(jobs.prompt_tokens, 0)) AS prompt_tokens,
  sum(coalesce(jobs.completion_tokens, 0)) AS completion_tokens` as const;

/** Subject and time are in the first entry of a transaction. */
export const USAGE_JOINS =
  "FROM entries AS entry JOIN entries AS first ON first.id = entry.txn JOIN jobs ON jobs.id = first.job_id LEFT JOIN api_keys ON api_keys.number = jobs.key_number" as const;

export const USAGE_GROUP = "GROUP BY 1, 2, 3, 4, 5" as const;

const CURSOR = "(SELECT entry FROM usage_cursor)";
/** At most 255 entries: `ledger_lines` gets 256 at a time. */
const NEWEST = `entries WHERE id > max(${CURSOR}, (SELECT max(id) FROM entries) / 256 * 256)`;

/** Entries of the account that are not summed up yet: of the index of lines, and those that are not in there yet either. */
const UNSUMMED = `SELECT ${USAGE_COLUMNS} ${USAGE_JOINS} WHERE entry.id IN (
    SELECT entry FROM ledger_lines WHERE party = @client AND entry > ${CURSOR}
    UNION ALL SELECT entry FROM ledger_lines WHERE party = @hold AND entry > ${CURSOR}
    UNION ALL SELECT id FROM ${NEWEST} AND party IN (@client, @hold)
  ) AND entry.kind IN ('charge', 'earning') ${USAGE_GROUP}`;

/** All that the account spent and earned, as rows of account_usage; several may have the same key. */
export const ALL_USAGE =
  `SELECT day, kind, slug, key_id, micro, jobs, prompt_tokens, completion_tokens FROM account_usage
    WHERE account_id = @accountId AND day BETWEEN @fromDay AND @toDay
  UNION ALL
  SELECT day, kind, slug, key_id, micro, jobs, prompt_tokens, completion_tokens FROM (${UNSUMMED})
    WHERE day BETWEEN @fromDay AND @toDay` as const;

export function usageSql(
  filter: UsageFilter,
  groups: readonly UsageGroup[],
): { readonly page: string; readonly totals: string } {
  const by = (group: UsageGroup, column: string): string => (groups.includes(group) ? column : "NULL");
  const conditions = [
    ...(filter.kind === undefined ? [] : ["kind = @kind"]),
    ...(filter.slug === undefined ? [] : ["slug = @slug"]),
    ...(filter.keyId === undefined ? [] : ["key_id = @keyId"]),
  ];
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const grouped = `SELECT kind, ${by("day", "day")} AS day, ${by("cargo", "slug")} AS slug,
      ${by("key", "nullif(key_id, '')")} AS keyId, sum(micro) AS micro, sum(jobs) AS jobs, sum(prompt_tokens) AS promptTokens,
      sum(completion_tokens) AS completionTokens
    FROM (${ALL_USAGE}) ${where} GROUP BY 1, 2, 3, 4`;
  return {
    page: `${grouped} ORDER BY 2 DESC, 1, 3, 4 LIMIT @limit OFFSET @offset`,
    totals: `SELECT count(*) AS total, coalesce(sum(micro) FILTER (WHERE kind = 'spent'), 0) AS spentMicro,
      coalesce(sum(micro) FILTER (WHERE kind = 'earned'), 0) AS earnedMicro FROM (${grouped})`,
  };
}
