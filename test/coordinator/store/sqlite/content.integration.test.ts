import Database from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { accountRows, expired, jobsOf, unfinishedOf } from "../../../../coordinator/store/content.ts";
import { PreparedStatements, SqliteTx } from "../../../../coordinator/store/sqlite/engine/sqlite-tx.ts";
import { migrate } from "../../../../coordinator/store/sqlite/engine/migrate.ts";
import { MIGRATIONS } from "../../../../coordinator/store/sqlite/migrations/all.ts";

const db = new Database(":memory:");
migrate(db, MIGRATIONS, 1);
afterAll(() => db.close());

const tx = new SqliteTx(new PreparedStatements(db), null);
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

describe("a removal", () => {
  it.each(STATEMENTS)("reads no more than its page, in an index: %s", async (_, sql) => {
    const steps = await tx.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, VALUES);
    const costly = steps.filter(({ detail }) => /TEMP B-TREE|^SCAN (?!\()/.test(detail));
    // Jobs that ended lately are few; they are sorted by their ends.
    const sorted = ["SCAN jobs USING INDEX jobs_unlisted", "USE TEMP B-TREE FOR ORDER BY"];
    expect(costly.map(({ detail }) => detail)).toEqual(sql.includes("endedAtMs") ? sorted : []);
  });
});

it("jobs of conversations from before the migration are known to their conversation", () => {
  const old = new Database(":memory:");
  const before = MIGRATIONS.findIndex(({ name }) => name === "removal");
  migrate(old, MIGRATIONS.slice(0, before), 1);
  old.exec(`
    INSERT INTO accounts (id, email, email_key, password_hash, created_at_ms) VALUES ('user_1', 'a@b', 'a@b', '', 1);
    INSERT INTO conversations (id, account_id, slug, metadata, created_at_ms, updated_at_ms)
      VALUES ('conv_1', 'user_1', 's', '{}', 1, 1);
    INSERT INTO jobs (id, account_id, slug, workload_id, state, priority, price_micro, created_at_ms, wait_deadline_ms)
      VALUES ('job_1', 'user_1', 's', 1, 'completed', 0, 0, 1, 2), ('job_2', 'user_1', 's', 1, 'completed', 0, 0, 1, 2);
    INSERT INTO messages (id, conversation_id, role, content, state, job_id, created_at_ms)
      VALUES ('msg_1', 'conv_1', 'assistant', 'x', 'completed', 'job_1', 1);
  `);
  migrate(old, MIGRATIONS, 2);
  const found = old.prepare("SELECT id, conversation_id AS conversationId FROM jobs ORDER BY id").all();
  expect(found).toEqual([
    { id: "job_1", conversationId: "conv_1" },
    { id: "job_2", conversationId: null },
  ]);
  old.close();
});
