import { returnPostings } from "../../../credits/postings.ts";
import type { ContentPart, ContentStore, RemovalSubject } from "../../content-store.ts";
import { takeTurn } from "../cluster/turns.ts";
import type { Database } from "../engine/database.ts";
import { lockBalances, post } from "../ledger/post.ts";
import { removeJobContent } from "./job-content.ts";

/** Most that one step removes. */
const MAX_STEP_BYTES = 4 * 1_024 * 1_024;
const MAX_STEP_ROWS = 200;

const ENDED = "completed_at_ms IS NOT NULL";
/** The column of `jobs` that has the subject's id. */
const COLUMN = { job: "id", output: "id", conversation: "conversation_id", account: "account_id" } as const;

/**
 * What a deleted account has beside its jobs, in an order that foreign keys allow. Each takes the account and a limit. With an array in
 * place of IN, PostgreSQL never reads the whole table for the few rows, however many it expects.
 */
const ACCOUNT_ROWS: readonly string[] = [
  `DELETE FROM messages WHERE ord = ANY (ARRAY(
     SELECT ord FROM messages WHERE conversation_id = ANY (ARRAY(
       SELECT id FROM conversations WHERE account_id = $1 ORDER BY id LIMIT $2)) LIMIT $2))`,
  "DELETE FROM conversations WHERE id = ANY (ARRAY(SELECT id FROM conversations WHERE account_id = $1 ORDER BY id LIMIT $2))",
  "DELETE FROM webhooks WHERE id = ANY (ARRAY(SELECT id FROM webhooks WHERE account_id = $1 LIMIT $2))",
  `DELETE FROM idempotency_keys WHERE account_id = $1 AND key = ANY (ARRAY(
     SELECT key FROM idempotency_keys WHERE account_id = $1 LIMIT $2))`,
  "DELETE FROM islands WHERE host_id = ANY (ARRAY(SELECT host_id FROM islands WHERE account_id = $1 LIMIT $2))",
  "DELETE FROM island_days WHERE ctid = ANY (ARRAY(SELECT ctid FROM island_days WHERE account_id = $1 LIMIT $2))",
  "DELETE FROM account_usage WHERE ctid = ANY (ARRAY(SELECT ctid FROM account_usage WHERE account_id = $1 LIMIT $2))",
  "DELETE FROM island_earnings WHERE ctid = ANY (ARRAY(SELECT ctid FROM island_earnings WHERE account_id = $1 LIMIT $2))",
];

/** PostgreSQL's own vacuum gives space back, and its log is the server's. */
export class PostgresContentStore implements ContentStore {
  readonly canReclaim = true;
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  takeSweep(everyMs: number): Promise<boolean> {
    return this.#db.use((session) => takeTurn(session, "sweep", everyMs));
  }

  begin({ kind, id }: RemovalSubject, atMs: number): Promise<void> {
    return this.#db.use(async (session) => {
      await session.run("INSERT INTO removals (kind, id, at_ms) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", [
        kind,
        id,
        atMs,
      ]);
    });
  }

  underWay(): Promise<RemovalSubject[]> {
    return this.#db.use((session) => session.all<RemovalSubject>("SELECT kind, id FROM removals ORDER BY at_ms"));
  }

  jobsOf({ kind, id }: RemovalSubject, afterId: string, limit: number): Promise<string[]> {
    return this.#db.use(async (session) => {
      const sql = `SELECT id FROM jobs WHERE ${COLUMN[kind]} = $1 AND id > $2 AND ${ENDED} ORDER BY id LIMIT $3`;
      return (await session.all<{ id: string }>(sql, [id, afterId, limit])).map((row) => row.id);
    });
  }

  expired(part: ContentPart, endedByMs: number, limit: number): Promise<string[]> {
    return this.#db.use(async (session) => {
      const sql = `SELECT id FROM jobs WHERE completed_at_ms <= $1 AND ${ENDED} AND ${part}_removed_at_ms IS NULL
        ORDER BY completed_at_ms, id LIMIT $2`;
      return (await session.all<{ id: string }>(sql, [endedByMs, limit])).map((row) => row.id);
    });
  }

  remove(...[jobIds, { parts, withMessages, atMs }]: Parameters<ContentStore["remove"]>): Promise<number> {
    return this.#db.transact(async (session) => {
      const budget = { bytes: MAX_STEP_BYTES };
      for (const [done, jobId] of jobIds.entries()) {
        if (budget.bytes <= 0) return done;
        // oxlint-disable no-await-in-loop -- One job after the other, until the budget is spent.
        if (!(await removeJobContent(session, { jobId, parts, atMs, budget }))) {
          await session.run("INSERT INTO removals (kind, id, at_ms) VALUES ('output', $1, $2) ON CONFLICT DO NOTHING", [
            jobId,
            atMs,
          ]);
          return done;
        }
        await session.run("DELETE FROM removals WHERE kind = 'output' AND id = $1", [jobId]);
        // The answer that the job made, and the question before it.
        if (withMessages) {
          await session.run(
            `WITH answer AS (SELECT ord, conversation_id FROM messages WHERE job_id = $1)
             DELETE FROM messages USING answer WHERE messages.ord = answer.ord OR messages.ord = (
               SELECT max(m.ord) FROM messages m
               WHERE m.conversation_id = answer.conversation_id AND m.ord < answer.ord AND m.role = 'user')`,
            [jobId],
          );
        }
        // oxlint-enable no-await-in-loop
      }
      return jobIds.length;
    });
  }

  removeOfAccount(accountId: string): Promise<boolean> {
    return this.#db.transact(async (session) => {
      for (const sql of ACCOUNT_ROWS) {
        // oxlint-disable-next-line no-await-in-loop -- The first that finds something is the step.
        if ((await session.run(sql, [accountId, MAX_STEP_ROWS])) > 0) return false;
      }
      return true;
    });
  }

  finish({ kind, id }: RemovalSubject, atMs: number): Promise<boolean> {
    return this.#db.transact(async (session) => {
      const sql = `SELECT 1 FROM jobs WHERE ${COLUMN[kind]} = $1 AND completed_at_ms IS NULL LIMIT 1`;
      if ((await session.one(sql, [id])) !== undefined) return false;
      if (kind === "account") {
        const balances = await lockBalances(session, [`client:${id}`]);
        await post(session, returnPostings(id, balances.get(`client:${id}`) ?? 0n), atMs);
      }
      await session.run("DELETE FROM removals WHERE kind = $1 AND id = $2", [kind, id]);
      return true;
    });
  }

  removeWebhooks(endedByMs: number, limit: number): Promise<number> {
    return this.#db.use((session) =>
      session.run(
        `DELETE FROM webhooks WHERE id = ANY (ARRAY(
           SELECT id FROM webhooks WHERE state IN ('delivered', 'failed') AND ended_at_ms <= $1 ORDER BY ended_at_ms LIMIT $2))`,
        [endedByMs, limit],
      ),
    );
  }

  async reclaim(): Promise<boolean> {
    return false;
  }

  async truncateLog(): Promise<boolean> {
    return true;
  }
}
