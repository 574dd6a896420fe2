import Database from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import type { JobFilter } from "../../../../../coordinator/store/jobs/job-store.ts";
import { jobListSql } from "../../../../../coordinator/store/jobs/job-lists.ts";
import { LEDGER_SQL } from "../../../../../coordinator/store/ledger/ledger.ts";
import { reportSql } from "../../../../../coordinator/store/ledger/usage.ts";
import type { Tx } from "../../../../../coordinator/store/steps/tx.ts";
import { migrate } from "../../../../../coordinator/store/sqlite/engine/migrate.ts";
import { MIGRATIONS } from "../../../../../coordinator/store/sqlite/migrations.ts";

const db = new Database(":memory:");
migrate(db, MIGRATIONS, 1);
afterAll(() => db.close());

const VALUES = {
  accountId: "a",
  slug: "s",
  batchId: "b",
  kind: null,
  keyId: null,
  client: "client:a",
  hold: "hold:a",
  id: 1,
  fromDay: 1,
  toDay: 2,
  limit: 1,
  offset: 0,
};

/** Returns how SQLite reads each table or index of the statement. */
function planOf(sql: string): string[] {
  const names = Object.entries(VALUES).filter(([name]) => sql.includes(`@${name}`));
  const steps = db.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(names));
  return steps.map(({ detail }) => detail);
}
const reads = (plan: string[], table: string) =>
  plan.filter((step) => new RegExp(`^(SEARCH|SCAN) ${table}\\b`).test(step));

const ENDED = ["jobs_ended_by_state (account_id=? AND state=?)"];
const FILTERS: [filter: JobFilter, indexes: string[]][] = [
  [{}, [...ENDED, ...ENDED, ...ENDED, ...ENDED, "jobs_unlisted", "jobs_live (account_id=?)"]],
  [{ states: ["failed"] }, [...ENDED, "jobs_unlisted"]],
  [{ states: ["timeout", "completed"] }, [...ENDED, ...ENDED, "jobs_unlisted"]],
  [{ states: ["pending", "running"] }, ["jobs_live (account_id=?)"]],
  [{ states: ["failed"], slug: "s" }, [...ENDED, "jobs_unlisted"]],
  [{ slug: "s" }, [...ENDED, ...ENDED, ...ENDED, ...ENDED, "jobs_unlisted", "jobs_live (account_id=?)"]],
  [{ batchId: "b", states: ["failed"] }, ["jobs_by_batch (batch_id=?)"]],
];

describe("the lists of jobs", () => {
  it.each(FILTERS)("filtered by %j read only matching jobs, in order", (filter, indexes) => {
    const { page, count } = jobListSql("sqlite", filter);
    const [jobs, ...skipped] = reads(planOf(page), "jobs");
    expect(jobs).toBe("SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)");
    for (const searched of [skipped, reads(planOf(count), "jobs")]) {
      expect(searched.map((step) => step.replace(/^(SEARCH|SCAN) jobs USING (COVERING )?INDEX /, ""))).toEqual(indexes);
      // Unfinished jobs, recently ended jobs and jobs of one batch are few.
      const ofMany = searched.filter((step) => !/jobs_live|jobs_unlisted|jobs_by_batch/.test(step));
      expect(ofMany.filter((step) => !step.includes("COVERING"))).toEqual([]);
    }
    expect(planOf(page).filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
  });
});

describe("the usage of an account", () => {
  it("reads its days, and only the ledger entries that are not aggregated yet", () => {
    const plan = planOf(reportSql({ dialect: "sqlite" } as Tx, ["day", "cargo", "key"]));
    expect(plan.filter((step) => /^SCAN (?!usage_cursor|unsummed|usage\b|grouped|totals|page)/.test(step))).toEqual([]);
    expect(reads(plan, "account_usage")).toEqual([
      "SEARCH account_usage USING PRIMARY KEY (account_id=? AND day>? AND day<?)",
    ]);
    const lines = "SEARCH ledger_lines USING PRIMARY KEY (party=? AND entry>?)";
    expect(reads(plan, "ledger_lines")).toEqual([lines, lines]);
  });
});

describe("the ledger of an account", () => {
  it("skips, counts and sums only ledger lines, and reads no more of them than a page skips", () => {
    const lines = (range: string) => `SEARCH ledger_lines USING PRIMARY KEY (${range})`;
    // Entries from the last id divisible by 256 on, which are not in the index of lines yet.
    const newest = ["SEARCH entries USING INTEGER PRIMARY KEY (rowid>?)", "SEARCH entries"];
    const page = planOf(LEDGER_SQL.sqlite.page);
    expect(reads(page, "entries")).toEqual(["SEARCH entries USING INTEGER PRIMARY KEY (rowid=?)", ...newest]);
    expect(reads(page, "ledger_lines")).toEqual([lines("party=?"), lines("party=?")]);
    expect(page.filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
    expect(reads(planOf(LEDGER_SQL.sqlite.count), "entries")).toEqual(newest);
    expect(reads(planOf(LEDGER_SQL.sqlite.count), "ledger_lines")).toEqual([lines("party=?"), lines("party=?")]);
    expect(reads(planOf(LEDGER_SQL.sqlite.balanceAt), "entries")).toEqual(newest);
    expect(reads(planOf(LEDGER_SQL.sqlite.balanceAt), "ledger_lines")).toEqual([lines("party=? AND entry>?")]);
  });
});
