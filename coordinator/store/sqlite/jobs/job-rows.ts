import type { JobError } from "../../../../shared/errors.ts";
import type { FinishReason, Timings } from "../../../../shared/output.ts";
import type { LargeJson } from "../../large-json.ts";
import { type JobInput, type JobRecord, type ActiveJobRecord } from "../../job-store.ts";

/** Without the account's share. */
export const ACTIVE_COLUMNS =
  `jobs.id, account_id AS accountId, batch_id AS batchId, slug, state, job_class AS jobClass,
  priority, price_micro AS priceMicro, attempt, refusals, island_id AS islandId,
  created_at_ms AS createdAtMs, started_at_ms AS startedAtMs, wait_deadline_ms AS waitDeadlineMs,
  client_bound AS isClientBound` as const;

export const WHOLE_COLUMNS =
  `${ACTIVE_COLUMNS}, (SELECT share FROM accounts WHERE accounts.id = account_id) AS share, workload_id AS workloadId, completed_at_ms AS completedAtMs,
  charged_micro AS creditsUsedMicro, prompt_tokens AS promptTokens, completion_tokens AS completionTokens,
  finish_reason AS finishReason, timings, error, webhook_id AS webhookId, ignored_parameters AS ignoredParameters,
  input_removed_at_ms AS inputRemovedAtMs, output_removed_at_ms AS outputRemovedAtMs,
  input, output, large_chars AS largeChars,
  CASE WHEN state = 'completed' AND output IS NULL THEN job_feeds.text END AS text` as const;

/** What WHOLE_COLUMNS are read from. An input and an output can have been removed. */
export const WHOLE_TABLES = `jobs LEFT JOIN job_inputs ON job_inputs.job_id = jobs.id
  LEFT JOIN job_outputs ON job_outputs.job_id = jobs.id LEFT JOIN job_feeds ON job_feeds.job_id = jobs.id` as const;

/** A row of ACTIVE_COLUMNS. */
export interface ActiveJobRow extends Omit<ActiveJobRecord, "isClientBound" | "share"> {
  readonly isClientBound: 0 | 1;
}

/** A row of WHOLE_COLUMNS. */
export interface JobRow extends ActiveJobRow, Pick<ActiveJobRecord, "share"> {
  readonly workloadId: number;
  readonly completedAtMs: number | null;
  readonly creditsUsedMicro: number;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly finishReason: FinishReason | null;
  readonly timings: string | null;
  readonly error: string | null;
  readonly webhookId: string | null;
  readonly ignoredParameters: string | null;
  readonly inputRemovedAtMs: number | null;
  readonly outputRemovedAtMs: number | null;
  /** Null once it was removed. */
  readonly input: string | null;
  readonly output: string | null;
  readonly largeChars: number | null;
  /** Of the feed, if it is the output. */
  readonly text: string | null;
}

/** The row itself, as a start reads 100,000 of them, with what they have in common in memory once. */
export const activeJobOf = (
  row: ActiveJobRow,
  { accountId, share }: Pick<ActiveJobRecord, "accountId" | "share">,
  slug: string,
): ActiveJobRecord => Object.assign(row, { accountId, share, slug, isClientBound: row.isClientBound === 1 });

/** `openLarge` makes what reads a large output of so many characters. */
export function jobOf(row: JobRow, openLarge: (chars: number) => LargeJson): JobRecord {
  const { promptTokens, completionTokens, timings, error, input, ignoredParameters } = row;
  const { promptTokens: _, completionTokens: _1, output: _2, largeChars: _3, text: _4, ...rest } = row;
  return {
    ...rest,
    isClientBound: row.isClientBound === 1,
    input: input === null ? {} : (JSON.parse(input) as JobInput),
    output: outputOf(row, openLarge),
    usage: promptTokens === null || completionTokens === null ? null : { promptTokens, completionTokens },
    timings: timings === null ? null : (JSON.parse(timings) as Timings),
    error: error === null ? null : (JSON.parse(error) as JobError),
    ignoredParameters: ignoredParameters === null ? [] : (JSON.parse(ignoredParameters) as string[]),
  };
}

function outputOf({ output, largeChars, text }: JobRow, openLarge: (chars: number) => LargeJson): unknown {
  if (largeChars !== null) return openLarge(largeChars);
  if (output !== null) return JSON.parse(output) as unknown;
  return text ?? undefined;
}
