import type Database from "better-sqlite3";
import { USAGE_COLUMNS, USAGE_GROUP, USAGE_JOINS } from "./usage-sql.ts";

export interface UsageOperations {
  /** True if there may be more. */
  sumUpUsage(args: { limit: number }): boolean;
  forgetUsage(args: { beforeDay: number; limit: number }): number;
}

export function usageOperations(db: Database.Database): UsageOperations {
  const readCursor = db.prepare<[], number>("SELECT entry FROM usage_cursor").pluck();
  const readLast = db.prepare<[], number>("SELECT coalesce(max(id), 0) FROM entries").pluck();
  // Writes are one after the other: no entry comes before one that is there.
  const sumUp = db.prepare<{ from: number; upTo: number }>(
    `INSERT INTO account_usage (account_id, day, kind, slug, key_id, micro, jobs, prompt_tokens, completion_tokens)
     SELECT ${USAGE_COLUMNS} ${USAGE_JOINS}
     WHERE entry.id > @from AND entry.id <= @upTo AND entry.kind IN ('charge', 'earning') ${USAGE_GROUP}
     ON CONFLICT DO UPDATE SET micro = micro + excluded.micro, jobs = jobs + excluded.jobs,
       prompt_tokens = prompt_tokens + excluded.prompt_tokens, completion_tokens = completion_tokens + excluded.completion_tokens`,
  );
  const setCursor = db.prepare<[number]>("UPDATE usage_cursor SET entry = ?");
  const forget = db.prepare<[number, number]>(
    `DELETE FROM account_usage WHERE (account_id, day, kind, slug, key_id) IN (
       SELECT account_id, day, kind, slug, key_id FROM account_usage WHERE day < ? LIMIT ?)`,
  );
  return {
    sumUpUsage({ limit }) {
      const from = readCursor.get() ?? 0;
      const last = readLast.get() ?? 0;
      const upTo = Math.min(last, from + limit);
      if (upTo <= from) return false;
      sumUp.run({ from, upTo });
      setCursor.run(upTo);
      return upTo < last;
    },
    forgetUsage: ({ beforeDay, limit }) => forget.run(beforeDay, limit).changes,
  };
}
