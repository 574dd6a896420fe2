import type { JobError } from "../../../../shared/errors.ts";
import type { FinishReason, Timings } from "../../../../shared/output.ts";
import type { JobInput, JobRecord, ActiveJobRecord, NewJob } from "../../job-store.ts";

export const SUMMARY_COLUMNS =
  "id, batch_id AS batchId, slug, state, created_at_ms AS createdAtMs, completed_at_ms AS completedAtMs" as const;

export const ACTIVE_COLUMNS =
  `jobs.id, account_id AS accountId, batch_id AS batchId, slug, state, job_class AS jobClass,
  (SELECT share FROM accounts WHERE accounts.id = account_id) AS share, priority, price_micro AS priceMicro, attempt, refusals,
  island_id AS islandId, created_at_ms AS createdAtMs, started_at_ms AS startedAtMs, wait_deadline_ms AS waitDeadlineMs` as const;

export const WHOLE_COLUMNS = `${ACTIVE_COLUMNS}, workload_id AS workloadId, completed_at_ms AS completedAtMs,
  charged_micro AS creditsUsedMicro, prompt_tokens AS promptTokens, completion_tokens AS completionTokens,
  finish_reason AS finishReason, timings, error, webhook_id AS webhookId, input, output` as const;

/** A row of WHOLE_COLUMNS. */
export interface JobRow extends ActiveJobRecord {
  readonly workloadId: number;
  readonly completedAtMs: number | null;
  readonly creditsUsedMicro: number;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly finishReason: FinishReason | null;
  readonly timings: string | null;
  readonly error: string | null;
  readonly webhookId: string | null;
  readonly input: string;
  readonly output: string | null;
}

export function jobOf(row: JobRow): JobRecord {
  const { promptTokens, completionTokens, timings, error, input, output, ...rest } = row;
  return {
    ...rest,
    input: JSON.parse(input) as JobInput,
    output: output === null ? undefined : (JSON.parse(output) as unknown),
    usage: promptTokens === null || completionTokens === null ? null : { promptTokens, completionTokens },
    timings: timings === null ? null : (JSON.parse(timings) as Timings),
    error: error === null ? null : (JSON.parse(error) as JobError),
  };
}

/** A job right after its submission: equal to what `jobOf` would read. */
export function newJobRecord(job: NewJob): JobRecord {
  const { id, accountId, slug, workloadId, input, jobClass, share, priority, priceMicro, createdAtMs, waitDeadlineMs } =
    job;
  return {
    id,
    accountId,
    batchId: null,
    slug,
    state: "pending",
    jobClass,
    share,
    priority,
    priceMicro,
    attempt: 0,
    refusals: 0,
    islandId: null,
    createdAtMs,
    startedAtMs: null,
    waitDeadlineMs,
    workloadId,
    input,
    output: undefined,
    usage: null,
    creditsUsedMicro: 0,
    finishReason: null,
    timings: null,
    error: null,
    completedAtMs: null,
    webhookId: job.webhook?.id ?? null,
  };
}
