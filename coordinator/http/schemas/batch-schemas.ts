import { z } from "@hono/zod-openapi";
import { JOB_STATES } from "../../../shared/job-state.ts";
import { isJsonObject } from "../../../shared/json-value.ts";
import type { InputText } from "../../catalog/input-text.ts";
import {
  BATCH_STATUSES,
  batchStatusOf,
  type BatchView,
  countStates,
  type SubmittedBatch,
} from "../../jobs/batches/batch-service.ts";
import { FAIL_MODES } from "../../store/jobs/job-store.ts";
import { errorSchema, submitSchema } from "./job-schemas.ts";
import { presentTime, presentTimeOrNull, timeSchema } from "./wire-units.ts";
import { MAX_INLINE_CHARS } from "../../store/jobs/large-json.ts";
import { orNull } from "./responses.ts";
import { trustFields } from "./trust-fields.ts";
import { presentWebhook, webhookFields, webhookLogSchema, webhookSecretSchema } from "./webhook-schemas.ts";

export const MAX_BATCH_JOBS = 100;

/** An object, which `readJson` has replaced by its text. */
const inputTextSchema = z
  .custom<InputText>(isJsonObject, "Invalid input: expected record")
  .openapi({ type: "object", additionalProperties: {} });

export const submitBatchSchema = z
  .object({
    workload: submitSchema.shape.workload,
    inputs: z.array(inputTextSchema).min(1).max(MAX_BATCH_JOBS).describe("Inputs, each of which becomes a job"),
    priority: submitSchema.shape.priority,
    fail_mode: z
      .enum(FAIL_MODES)
      .default("best_effort")
      .describe(
        "With `fail_fast`, the first job that fails or times out cancels the others. With `best_effort`, all jobs run",
      ),
    ...trustFields,
    ...webhookFields,
  })
  .openapi("SubmitBatch");

const countsSchema = z
  .object(
    Object.fromEntries(JOB_STATES.map((state) => [state, z.int()])) as Record<(typeof JOB_STATES)[number], z.ZodInt>,
  )
  .extend({ total: z.int() })
  .openapi("BatchCounts");

const batchJobSchema = z
  .object({
    id: z.string(),
    status: z.enum(JOB_STATES),
    output: z
      .unknown()
      .optional()
      .describe(
        "Output of the job, present only with `include=output` and from job `output_offset` on. Null if the job is not completed, or its output was removed or omitted",
      ),
    error: errorSchema
      .nullable()
      .optional()
      .describe("Why the job failed or timed out; present only with `include=output`"),
    output_omitted: z
      .literal(true)
      .optional()
      .describe(
        `Present if the output has more than ${MAX_INLINE_CHARS} characters as JSON. Read it from GET /jobs/{id}`,
      ),
  })
  .openapi("BatchJob");

export const batchSchema = z
  .object({
    id: z.string(),
    workload_id: z.int(),
    workload_slug: z.string(),
    status: z
      .enum(BATCH_STATUSES)
      .describe(
        "`pending` means that no job has started. `failed` means that all jobs have ended and at least one failed or timed out",
      ),
    fail_mode: z.enum(FAIL_MODES),
    priority: z.int(),
    counts: countsSchema,
    jobs: z.array(batchJobSchema).describe("Jobs, in the order of the inputs"),
    next_output_offset: z
      .int()
      .nullable()
      .optional()
      .describe(
        "`output_offset` of the next request, present only with `include=output`; null if there are no further outputs",
      ),
    created_at: timeSchema,
    completed_at: timeSchema.nullable(),
    webhook: orNull(webhookLogSchema),
  })
  .openapi("Batch");

export const submittedBatchSchema = batchSchema
  .extend({ webhook_secret: webhookSecretSchema })
  .openapi("SubmittedBatch");

export function presentBatch(batch: BatchView): z.infer<typeof batchSchema> {
  const { jobs } = batch;
  return {
    id: batch.id,
    workload_id: batch.workloadId,
    workload_slug: batch.slug,
    status: batchStatusOf(batch),
    fail_mode: batch.failMode,
    priority: batch.priority,
    counts: { ...countStates(jobs), total: jobs.length },
    jobs: jobs.map(({ id, state }) => ({ id, status: state })),
    created_at: presentTime(batch.createdAtMs),
    completed_at: presentTimeOrNull(batch.completedAtMs),
    webhook: presentWebhook(batch.webhook),
  };
}

export function presentSubmittedBatch(batch: SubmittedBatch): z.infer<typeof submittedBatchSchema> {
  const { webhookSecret } = batch;
  return { ...presentBatch(batch), ...(webhookSecret === null ? {} : { webhook_secret: webhookSecret }) };
}
