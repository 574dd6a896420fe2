import type Database from "better-sqlite3";
import { ServiceError } from "../../../shared/errors.ts";
import { IllegalTransitionError, type JobEvent, type JobState } from "../../../shared/job-state.ts";
import type { JobEnding, JobMove, NewJob } from "../job-store.ts";
import { guardOf } from "./job-guards.ts";
import type { Ledger } from "./ledger.ts";

/** How long an Idempotency-Key stands for its first request. Source: DESIGN §4. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000;

export interface JobOperations {
  /** `input`: JSON text. Answers the id of the first job of the same Idempotency-Key, or null when this one was stored. */
  submitJob(args: Omit<NewJob, "input"> & { input: string }): string | null;
  moveJob(args: JobMove): void;
  /** `output`, `timings` and `error`: JSON text. */
  endJob(
    args: Pick<
      JobEnding,
      "jobId" | "event" | "attempt" | "atMs" | "usage" | "finishReason" | "chargeMicro" | "earning"
    > & { output: string | null; timings: string | null; error: string | null },
  ): void;
}

interface IdempotencyRow {
  readonly bodyHash: string;
  readonly jobId: string;
  readonly createdAtMs: number;
}

export function jobOperations(db: Database.Database, ledger: Ledger): JobOperations {
  return { submitJob: submitJob(db, ledger), moveJob: moveJob(db), endJob: endJob(db, ledger) };
}

function submitJob(db: Database.Database, ledger: Ledger): JobOperations["submitJob"] {
  const findKey = db.prepare<[string, string], IdempotencyRow>(
    `SELECT body_hash AS bodyHash, job_id AS jobId, created_at_ms AS createdAtMs
     FROM idempotency_keys WHERE account_id = ? AND key = ?`,
  );
  const saveKey = db.prepare(
    `INSERT INTO idempotency_keys (account_id, key, body_hash, job_id, created_at_ms) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (account_id, key) DO UPDATE SET body_hash = excluded.body_hash, job_id = excluded.job_id,
       created_at_ms = excluded.created_at_ms`,
  );
  const insertJob = db.prepare(
    `INSERT INTO jobs (id, account_id, slug, workload_id, state, priority, price_micro, created_at_ms, wait_deadline_ms)
     VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?)`,
  );
  const insertInput = db.prepare<[string, string]>("INSERT INTO job_inputs (job_id, input) VALUES (?, ?)");
  return (job) => {
    const { id, accountId, priceMicro, createdAtMs, idempotency } = job;
    const known = idempotency === null ? undefined : findKey.get(accountId, idempotency.key);
    if (known !== undefined && createdAtMs - known.createdAtMs < IDEMPOTENCY_WINDOW_MS) {
      if (known.bodyHash === idempotency?.bodyHash) return known.jobId;
      throw new ServiceError("idempotency_conflict", "The Idempotency-Key was used with another request");
    }
    const balance = ledger.balance(`client:${accountId}`);
    if (balance === undefined) throw new ServiceError("not_found", "There is no such account");
    if (balance < priceMicro) throw new ServiceError("insufficient_credits", "Not enough credits for this job");

    insertJob.run(id, accountId, job.slug, job.workloadId, job.priority, priceMicro, createdAtMs, job.waitDeadlineMs);
    insertInput.run(id, job.input);
    if (idempotency !== null) saveKey.run(accountId, idempotency.key, idempotency.bodyHash, id, createdAtMs);
    ledger.post(
      [
        { party: `client:${accountId}`, micro: -priceMicro, kind: "hold" },
        { party: `hold:${accountId}`, micro: priceMicro, kind: "hold" },
      ],
      id,
      createdAtMs,
    );
    return null;
  };
}

function moveJob(db: Database.Database): JobOperations["moveJob"] {
  /** Attempt rule: a new attempt is later than all before it; `start` and `lose` speak of the present one. */
  const updates = {
    assign: prepareMove(db, "assign", "attempt = @attempt, island_id = @islandId", "attempt < @attempt"),
    start: prepareMove(db, "start", "started_at_ms = @atMs", "attempt = @attempt"),
    lose: prepareMove(db, "lose", "island_id = NULL, started_at_ms = NULL", "attempt = @attempt"),
  };
  const explain = explainRefusal(db);
  return (move) => {
    if (updates[move.event].run(move).changes === 0) throw explain(move.jobId, move.event);
  };
}

function prepareMove(
  db: Database.Database,
  event: JobEvent,
  set: string,
  attempt: string,
): Database.Statement<[JobMove]> {
  const { from, to } = guardOf(event);
  return db.prepare(`UPDATE jobs SET state = '${to}', ${set} WHERE id = @jobId AND state IN (${from}) AND ${attempt}`);
}

function endJob(db: Database.Database, ledger: Ledger): JobOperations["endJob"] {
  const prepareEnd = (event: JobEnding["event"]): Database.Statement<unknown[], EndedRow> => {
    const { from, to } = guardOf(event);
    return db.prepare<unknown[], EndedRow>(
      `UPDATE jobs SET state = '${to}', completed_at_ms = ?, charged_micro = ?, prompt_tokens = ?, completion_tokens = ?,
         finish_reason = ?, timings = ?, error = ?
       WHERE id = ? AND state IN (${from}) AND attempt = ?
       RETURNING account_id AS accountId, price_micro AS priceMicro`,
    );
  };
  const updates = {
    complete: prepareEnd("complete"),
    fail: prepareEnd("fail"),
    cancel: prepareEnd("cancel"),
    expire: prepareEnd("expire"),
  };
  const insertOutput = db.prepare<[string, string]>("INSERT INTO job_outputs (job_id, output) VALUES (?, ?)");
  const explain = explainRefusal(db);
  return ({ jobId, event, attempt, atMs, usage, finishReason, chargeMicro, earning, output, timings, error }) => {
    const ended = updates[event].get(
      atMs,
      chargeMicro,
      usage?.promptTokens ?? null,
      usage?.completionTokens ?? null,
      finishReason,
      timings,
      error,
      jobId,
      attempt,
    );
    if (ended === undefined) throw explain(jobId, event);
    if (output !== null) insertOutput.run(jobId, output);
    const { accountId, priceMicro } = ended;
    const earned = earning?.micro ?? 0;
    ledger.post(
      [
        { party: `hold:${accountId}`, micro: -chargeMicro, kind: "charge" },
        { party: `client:${earning?.accountId ?? accountId}`, micro: earned, kind: "earning" },
        { party: "network", micro: chargeMicro - earned, kind: "fee" },
        { party: `hold:${accountId}`, micro: chargeMicro - priceMicro, kind: "release" },
        { party: `client:${accountId}`, micro: priceMicro - chargeMicro, kind: "release" },
      ],
      jobId,
      atMs,
    );
  };
}

interface EndedRow {
  readonly accountId: string;
  readonly priceMicro: number;
}

/** Why a guarded update found no row. */
function explainRefusal(db: Database.Database): (jobId: string, event: JobEvent) => Error {
  const findState = db.prepare<[string], JobState>("SELECT state FROM jobs WHERE id = ?").pluck();
  return (jobId, event) => {
    const state = findState.get(jobId);
    return state === undefined
      ? new ServiceError("not_found", "There is no such job")
      : new IllegalTransitionError(state, event);
  };
}
