import type Database from "better-sqlite3";
import { IllegalTransitionError, type EndEvent, type JobEvent, type JobState } from "../../../../shared/job-state.ts";
import type { HotWrites } from "../../jobs/hot-writes.ts";
import type { JobMove } from "../../jobs/job-store.ts";
import { REFUSALS } from "../../refusals.ts";
import { auditTable, NEW_AUDIT_COLUMNS } from "../../audits.ts";
import { guardOf } from "../../jobs/job-guards.ts";
import { jobOutputTable, type jobTable } from "../../jobs/job-tables.ts";
import type { RowOf } from "../../steps/table.ts";
import { prepareInsert } from "../engine/sqlite-tx.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { prepareFold, prepareInsertPieces } from "./feed-operations.ts";
import { prepareKeySpending } from "./key-spending-operations.ts";

export function jobOperations(db: Database.Database, ledger: Ledger): Pick<HotWrites, "moveJob" | "endJob"> {
  return { moveJob: moveJob(db), endJob: endJob(db, ledger) };
}

function moveJob(db: Database.Database): HotWrites["moveJob"] {
  /**
   * Statements by event. A new attempt must have a higher number than the stored one; other events name the stored one.
   */
  const updates = {
    assign: prepareMove(db, "assign", "attempt = @attempt, island_id = @islandId", "attempt < @attempt"),
    start: prepareMove(db, "start", "started_at_ms = @atMs", "attempt = @attempt"),
    lose: prepareMove(
      db,
      "lose",
      `island_id = NULL, started_at_ms = NULL, refusals = coalesce(@refusals, refusals),
       wait_deadline_ms = MAX(wait_deadline_ms, @waitDeadlineMs)`,
      "attempt = @attempt",
    ),
    regain: prepareMove(db, "regain", "island_id = @islandId", "attempt = @attempt"),
  };
  const explain = explainRefusal(db);
  return (move) => {
    const { refusals = null, waitDeadlineMs = 0 } = move;
    if (updates[move.event].run({ ...move, refusals, waitDeadlineMs }).changes === 0)
      throw explain(move.jobId, move.event);
  };
}

function prepareMove(
  db: Database.Database,
  event: JobEvent,
  set: string,
  attempt: string,
): Database.Statement<[Omit<JobMove, "refusals"> & { refusals: number | null }]> {
  const { from, to } = guardOf(event);
  return db.prepare(`UPDATE jobs SET state = '${to}', ${set} WHERE id = @jobId AND state IN (${from}) AND ${attempt}`);
}

type EndedJob = Pick<RowOf<typeof jobTable>, "batchId" | "webhookId" | "keyNumber" | "keyMonth" | "priceMicro">;

function endJob(db: Database.Database, ledger: Ledger): HotWrites["endJob"] {
  const prepareEnd = ({ from, to }: ReturnType<typeof guardOf>) =>
    db.prepare<unknown[], EndedJob>(
      `UPDATE jobs SET state = '${to}', is_unlisted = 1, started_at_ms = coalesce(?, started_at_ms), completed_at_ms = ?,
         charged_micro = ?, prompt_tokens = ?, completion_tokens = ?, finish_reason = ?, timings = ?, error = ?
       WHERE id = ? AND state IN (${from}) AND attempt = ?
       RETURNING batch_id AS batchId, webhook_id AS webhookId, key_number AS keyNumber, key_month AS keyMonth, price_micro AS priceMicro`,
    );
  const prepareEnds = (guard: (event: EndEvent) => ReturnType<typeof guardOf>) => ({
    complete: prepareEnd(guard("complete")),
    fail: prepareEnd(guard("fail")),
    cancel: prepareEnd(guard("cancel")),
    expire: prepareEnd(guard("expire")),
  });
  const updates = prepareEnds(guardOf);
  const updatesWithStart = prepareEnds((event) => guardOf("start", event));
  const insertOutput = prepareInsert(db, jobOutputTable, ["jobId", "output", "largeChars"]);
  const insertAudit = prepareInsert(db, auditTable, ["jobId", "endedAtMs", ...NEW_AUDIT_COLUMNS]);
  const insertPieces = prepareInsertPieces(db);
  const fold = prepareFold(db);
  const followUp = prepareFollowUp(db);
  const list = prepareListing(db);
  const spending = prepareKeySpending(db);
  const explain = explainRefusal(db);
  return (ending) => {
    const { jobId, event, atMs, startedAtMs, usage, chargeMicro, output, largeChars } = ending;
    const ended = (startedAtMs === undefined ? updates : updatesWithStart)[event].get(
      startedAtMs ?? null,
      atMs,
      chargeMicro,
      usage?.promptTokens ?? null,
      usage?.completionTokens ?? null,
      ending.finishReason,
      ending.timings,
      ending.error,
      jobId,
      ending.attempt,
    );
    if (ended === undefined) throw explain(jobId, startedAtMs === undefined ? event : "start");
    if (output !== null) insertOutput({ jobId, output, largeChars });
    insertPieces(jobId, ending.pieces);
    fold(jobId, ending.lastChunk, event === "complete" && output === null);
    ledger.post(ending.postings, jobId, atMs);
    if (ending.audit !== undefined) insertAudit({ jobId, endedAtMs: atMs, ...ending.audit });
    const { keyNumber, keyMonth, priceMicro } = ended;
    if (keyNumber !== null && keyMonth !== null) spending.refund(keyNumber, keyMonth, priceMicro - chargeMicro);
    list();
    return followUp(ended, atMs);
  };
}

/** Returns a function for the error of a guarded UPDATE that matched no row. */
function explainRefusal(db: Database.Database): (jobId: string, event: JobEvent) => Error {
  const findState = db.prepare<[string], JobState>("SELECT state FROM jobs WHERE id = ?").pluck();
  return (jobId, event) => {
    const state = findState.get(jobId);
    return state === undefined ? REFUSALS.no_job() : new IllegalTransitionError(state, event);
  };
}

/** Returns a function that completes the batch after its last job, makes webhooks due and returns their ids. */
function prepareFollowUp(db: Database.Database): (ended: EndedJob, atMs: number) => string[] {
  const countDown = db.prepare<[number, string], { completedAtMs: number | null; webhookId: string | null }>(
    `UPDATE batches SET unfinished = unfinished - 1, completed_at_ms = CASE unfinished WHEN 1 THEN ? END
       WHERE id = ? RETURNING completed_at_ms AS completedAtMs, webhook_id AS webhookId`,
  );
  const makeDue = db.prepare<[number, number, string]>(
    "UPDATE webhooks SET state = 'pending', ended_at_ms = ?, due_at_ms = ? WHERE id = ? AND state = 'waiting'",
  );
  return ({ batchId, webhookId }, atMs) => {
    const due = webhookId === null ? [] : [webhookId];
    const batch = batchId === null ? undefined : countDown.get(atMs, batchId);
    if (batch !== undefined && batch.completedAtMs !== null && batch.webhookId !== null) due.push(batch.webhookId);
    for (const id of due) makeDue.run(atMs, atMs, id);
    return due;
  };
}

/** Number of ended jobs that enter the indexes together. More would make that commit slower than other commits. */
const LISTED_TOGETHER = 32;

/**
 * Returns a function to call after each end. It adds ended jobs to the indexes 32 at a time: one by one, each would
 * write a page of every index. Lists also read the jobs that are not in the indexes yet.
 */
function prepareListing(db: Database.Database): () => void {
  const list = db.prepare("UPDATE jobs SET is_unlisted = 0 WHERE is_unlisted = 1");
  // It is unknown how many an earlier run left, so the first end adds them.
  let unlisted = LISTED_TOGETHER;
  return () => {
    unlisted += 1;
    if (unlisted < LISTED_TOGETHER) return;
    list.run();
    unlisted = 0;
  };
}
