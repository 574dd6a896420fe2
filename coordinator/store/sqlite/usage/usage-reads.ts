import type Database from "better-sqlite3";
import type { Page } from "../../page.ts";
import type { UsageFilter, UsageGroup, UsageLine, UsageReport } from "../../usage-store.ts";
import { usageSql } from "./usage-sql.ts";

export interface UsageQuery {
  readonly accountId: string;
  readonly filter: UsageFilter;
  readonly groups: readonly UsageGroup[];
  readonly page: Page;
}

export function prepareUsage(db: Database.Database): (query: UsageQuery) => UsageReport {
  // One transaction, so that sums and cursor, page and totals belong to the same state.
  return db.transaction(({ accountId, filter, groups, page }: UsageQuery): UsageReport => {
    const sql = usageSql(filter, groups);
    const { fromDay, toDay, kind, slug, keyId } = filter;
    const wanted = Object.entries({ kind, slug, keyId }).filter(([, value]) => value !== undefined);
    const parties = { accountId, client: `client:${accountId}`, hold: `hold:${accountId}` };
    const values = { ...parties, fromDay, toDay, ...Object.fromEntries(wanted) };
    const lines = db.prepare<[object], UsageLine>(sql.page).all({ ...values, ...page });
    const totals = db.prepare<[object], Omit<UsageReport, "lines">>(sql.totals).get(values);
    return { lines, ...(totals ?? { total: 0, spentMicro: 0, earnedMicro: 0 }) };
  });
}
