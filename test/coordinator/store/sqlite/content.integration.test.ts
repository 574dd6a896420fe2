import Database from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { accountRows, expired, jobsOf, unfinishedOf } from "../../../../coordinator/store/jobs/content.ts";
import { prepareOnce, SqliteTx } from "../../../../coordinator/store/sqlite/engine/sqlite-tx.ts";
import { migrate } from "../../../../coordinator/store/sqlite/engine/migrate.ts";
import { MIGRATIONS } from "../../../../coordinator/store/sqlite/migrations.ts";

const db = new Database(":memory:");
migrate(db, MIGRATIONS, 1);
afterAll(() => db.close());

const tx = new SqliteTx(prepareOnce(db), null);
const KINDS = ["job", "output", "conversation", "account"] as const;
const STATEMENTS: [string, string][] = [
  ...(["input", "output"] as const).map((part): [string, string] => [`expired ${part}`, expired(tx, part)]),
  ...KINDS.map((kind): [string, string] => [kind, jobsOf(tx, kind)]),
  ...KINDS.map((kind): [string, string] => [kind, unfinishedOf(tx, kind)]),
  ...accountRows(tx)
    .filter((sql) => !sql.includes("islands"))
    .map((sql): [string, string] => [sql, sql]),
];
const VALUES = { sinceMs: 0, endedByMs: 1, limit: 5, id: "a", afterId: "", accountId: "a" };

describe("content removal", () => {
  it.each(STATEMENTS)("reads only its page, through an index: %s", async (_, sql) => {
    const steps = await tx.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, VALUES);
    const costly = steps.filter(({ detail }) => /TEMP B-TREE|^SCAN (?!\()/.test(detail));
    // Recently ended jobs are few, and are sorted by their ends.
    const sorted = ["SCAN jobs USING INDEX jobs_unlisted", "USE TEMP B-TREE FOR ORDER BY"];
    expect(costly.map(({ detail }) => detail)).toEqual(sql.includes("endedAtMs") ? sorted : []);
  });
});
