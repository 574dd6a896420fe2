import type Database from "better-sqlite3";
import { DAY_MS, type HostCounts, type HostDay } from "../../host-figures-store.ts";

export interface HostFiguresOperations {
  addHostCounts(args: { rows: readonly (HostDay & HostCounts)[] }): void;
  /** True if there may be more. */
  sumUpEarnings(args: { limit: number }): boolean;
  forgetHostDays(args: { beforeDay: number; limit: number }): number;
}

export function hostFiguresOperations(db: Database.Database): HostFiguresOperations {
  const add = db.prepare<HostDay & HostCounts>(
    `INSERT INTO island_days (account_id, host_id, day, online_ms, completed, failed, cancelled, timed_out, retried, tokens)
     VALUES (@accountId, @hostId, @day, @onlineMs, @completed, @failed, @cancelled, @timedOut, @retried, @tokens)
     ON CONFLICT DO UPDATE SET online_ms = online_ms + excluded.online_ms, completed = completed + excluded.completed,
       failed = failed + excluded.failed, cancelled = cancelled + excluded.cancelled, timed_out = timed_out + excluded.timed_out,
       retried = retried + excluded.retried, tokens = tokens + excluded.tokens`,
  );
  const readCursor = db.prepare<[], number>("SELECT entry FROM earnings_cursor").pluck();
  const readLast = db.prepare<[], number>("SELECT coalesce(max(id), 0) FROM entries").pluck();
  // Subject and time are in the first entry of a transaction. Writes are one after the other: no entry comes before one that is there.
  const sumUp = db.prepare<{ from: number; upTo: number }>(
    `INSERT INTO island_earnings (account_id, host_id, day, micro)
     SELECT substr(earning.party, 8), jobs.island_id, first.at_ms / ${DAY_MS} AS day, sum(earning.micro)
     FROM entries AS earning JOIN entries AS first ON first.id = earning.txn JOIN jobs ON jobs.id = first.job_id
     WHERE earning.id > @from AND earning.id <= @upTo AND earning.kind = 'earning' AND jobs.island_id IS NOT NULL
     GROUP BY earning.party, jobs.island_id, day
     ON CONFLICT DO UPDATE SET micro = micro + excluded.micro`,
  );
  const setCursor = db.prepare<[number]>("UPDATE earnings_cursor SET entry = ?");
  const forget = ["island_days", "island_earnings"].map((table) =>
    db.prepare<[number, number]>(
      `DELETE FROM ${table} WHERE (account_id, host_id, day) IN (
         SELECT account_id, host_id, day FROM ${table} WHERE day < ? LIMIT ?)`,
    ),
  );
  return {
    addHostCounts({ rows }) {
      for (const row of rows) add.run(row);
    },
    sumUpEarnings({ limit }) {
      const from = readCursor.get() ?? 0;
      const last = readLast.get() ?? 0;
      const upTo = Math.min(last, from + limit);
      if (upTo <= from) return false;
      sumUp.run({ from, upTo });
      setCursor.run(upTo);
      return upTo < last;
    },
    forgetHostDays: ({ beforeDay, limit }) => {
      return forget.reduce((count, statement) => count + statement.run(beforeDay, limit).changes, 0);
    },
  };
}
