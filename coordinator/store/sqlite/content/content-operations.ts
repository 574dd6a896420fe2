import type Database from "better-sqlite3";
import type { ContentPart, RemovalSubject } from "../../content-store.ts";
import { returnPostings } from "../../../credits/postings.ts";
import { pageBytesOf } from "../engine/connection.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ACCOUNT_ROWS, UNFINISHED_OF } from "./content-tables.ts";
import { prepareRemoveJobContent } from "./job-content.ts";

/** Most that one step removes. It takes about as long as a checkpoint: tens of ms on a slow disk. */
const MAX_STEP_BYTES = 4 * 1_024 * 1_024;
const MAX_STEP_ROWS = 200;
/** A step moves at most as much from the end of the file into holes. */
const MOVED_BYTES = 1_024 * 1_024;
/** So much stays in the file for what comes next, so that it does not shrink and grow all the time. */
const KEPT_BYTES = 10 * MOVED_BYTES;

export interface ContentOperations {
  beginRemoval(args: RemovalSubject & { atMs: number }): void;
  /** Returns how many of the jobs are done, from the first on. */
  removeContent(args: {
    jobIds: readonly string[];
    parts: readonly ContentPart[];
    withMessages: boolean;
    atMs: number;
  }): number;
  /** True when nothing is left. */
  removeOfAccount(args: { accountId: string }): boolean;
  finishRemoval(args: RemovalSubject & { atMs: number }): boolean;
  removeWebhooks(args: { endedByMs: number; limit: number }): number;
  /** True if there is more to give back. */
  reclaim(args: Record<string, never>): boolean;
}

export function contentOperations(db: Database.Database, ledger: Ledger): ContentOperations {
  const begin = db.prepare<[string, string, number]>(
    "INSERT INTO removals (kind, id, at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const removeWebhooks = db.prepare<[number, number]>(
    `DELETE FROM webhooks WHERE id IN (
       SELECT id FROM webhooks WHERE state IN ('delivered', 'failed') AND ended_at_ms <= ? ORDER BY ended_at_ms LIMIT ?)`,
  );
  return {
    beginRemoval: ({ kind, id, atMs }) => void begin.run(kind, id, atMs),
    removeContent: removeContent(db),
    removeOfAccount: removeOfAccount(db),
    finishRemoval: finishRemoval(db, ledger),
    removeWebhooks: ({ endedByMs, limit }) => removeWebhooks.run(endedByMs, limit).changes,
    reclaim() {
      const pageBytes = pageBytesOf(db);
      const spare = (): number => (db.pragma("freelist_count", { simple: true }) as number) - KEPT_BYTES / pageBytes;
      if (db.pragma("auto_vacuum", { simple: true }) !== 2 || spare() <= 0) return false;
      db.pragma(`incremental_vacuum(${Math.min(MOVED_BYTES / pageBytes, Math.ceil(spare()))})`);
      return spare() > 0;
    },
  };
}

function removeContent(db: Database.Database): ContentOperations["removeContent"] {
  const removeJob = prepareRemoveJobContent(db);
  const deleteTurn = prepareDeleteTurn(db);
  const noteHalfDone = db.prepare<[string, number]>(
    "INSERT INTO removals (kind, id, at_ms) VALUES ('output', ?, ?) ON CONFLICT DO NOTHING",
  );
  const forgetHalfDone = db.prepare<[string]>("DELETE FROM removals WHERE kind = 'output' AND id = ?");
  return ({ jobIds, parts, withMessages, atMs }) => {
    const budget = { bytes: MAX_STEP_BYTES };
    for (const [done, jobId] of jobIds.entries()) {
      if (budget.bytes <= 0) return done;
      if (!removeJob(jobId, parts, atMs, budget)) {
        noteHalfDone.run(jobId, atMs);
        return done;
      }
      forgetHalfDone.run(jobId);
      if (withMessages) deleteTurn(jobId);
    }
    return jobIds.length;
  };
}

/** Deletes the answer that a job made in a conversation, and the question before it. */
function prepareDeleteTurn(db: Database.Database): (jobId: string) => void {
  const findAnswer = db.prepare<[string], { ord: number; conversationId: string }>(
    "SELECT ord, conversation_id AS conversationId FROM messages WHERE job_id = ?",
  );
  const deleteTurn = db.prepare<{ ord: number; conversationId: string }>(
    `DELETE FROM messages WHERE ord = @ord OR ord = (
       SELECT max(ord) FROM messages WHERE conversation_id = @conversationId AND ord < @ord AND role = 'user')`,
  );
  return (jobId) => {
    const answer = findAnswer.get(jobId);
    if (answer !== undefined) deleteTurn.run(answer);
  };
}

function removeOfAccount(db: Database.Database): ContentOperations["removeOfAccount"] {
  const deletions = ACCOUNT_ROWS.map((sql) => db.prepare<[string, number]>(sql));
  return ({ accountId }) => deletions.every((deletion) => deletion.run(accountId, MAX_STEP_ROWS).changes === 0);
}

function finishRemoval(db: Database.Database, ledger: Ledger): ContentOperations["finishRemoval"] {
  const unfinished = {
    job: db.prepare<[string], number>(UNFINISHED_OF.job).pluck(),
    output: db.prepare<[string], number>(UNFINISHED_OF.output).pluck(),
    conversation: db.prepare<[string], number>(UNFINISHED_OF.conversation).pluck(),
    account: db.prepare<[string], number>(UNFINISHED_OF.account).pluck(),
  };
  const finish = db.prepare<[string, string]>("DELETE FROM removals WHERE kind = ? AND id = ?");
  return ({ kind, id, atMs }) => {
    if (unfinished[kind].get(id) !== undefined) return false;
    if (kind === "account") ledger.post(returnPostings(id, ledger.balanceOf(`client:${id}`) ?? 0n), null, atMs);
    finish.run(kind, id);
    return true;
  };
}
