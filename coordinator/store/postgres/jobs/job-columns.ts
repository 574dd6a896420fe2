import { type JobRecord } from "../../job-store.ts";

const FACTS = `jobs.id, jobs.account_id AS "accountId", batch_id AS "batchId", slug, state, job_class AS "jobClass",
  (SELECT share FROM accounts WHERE accounts.id = jobs.account_id) AS share, priority, price_micro AS "priceMicro", attempt, refusals,
  island_id AS "islandId", jobs.created_at_ms AS "createdAtMs", started_at_ms AS "startedAtMs", wait_deadline_ms AS "waitDeadlineMs",
  client_bound AS "isClientBound"` as const;

/** Of `ActiveJobRecord`. */
export const ACTIVE_COLUMNS = `${FACTS}, has_place AS "hasPlace"` as const;

export const WHOLE_COLUMNS = `${FACTS}, workload_id AS "workloadId", completed_at_ms AS "completedAtMs",
  charged_micro AS "creditsUsedMicro", prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens",
  finish_reason AS "finishReason", timings, error, webhook_id AS "webhookId", input_removed_at_ms AS "inputRemovedAtMs",
  output_removed_at_ms AS "outputRemovedAtMs", input, output, large_chars AS "largeChars", ignored_parameters AS "ignoredParameters",
  CASE WHEN state = 'completed' AND output IS NULL THEN job_feeds.text END AS text` as const;

/** What WHOLE_COLUMNS are read from. An input and an output can have been removed. */
export const WHOLE_TABLES = `jobs LEFT JOIN job_inputs ON job_inputs.job_id = jobs.id
  LEFT JOIN job_outputs ON job_outputs.job_id = jobs.id LEFT JOIN job_feeds ON job_feeds.job_id = jobs.id` as const;

/** A row of WHOLE_COLUMNS. */
export interface JobRow extends Omit<
  JobRecord,
  "input" | "output" | "usage" | "timings" | "error" | "ignoredParameters"
> {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly timings: string | null;
  readonly error: string | null;
  readonly ignoredParameters: string | null;
  /** Null once it was removed. */
  readonly input: string | null;
  readonly output: string | null;
  readonly largeChars: number | null;
  /** Of the feed, if it is the output. */
  readonly text: string | null;
}
