import { z } from "@hono/zod-openapi";
import { JOB_STATES } from "../../../shared/job-state.ts";
import type { BatchView, SubmittedBatch } from "../../jobs/batch-service.ts";
import { BATCH_STATUSES, batchStatusOf, countStates } from "../../jobs/batch-status.ts";
import { FAIL_MODES } from "../../store/batch-store.ts";
import { submitSchema } from "./job-schemas.ts";
import { presentTime, presentTimeOrNull, timeSchema } from "./wire-units.ts";
import { orNull } from "./responses.ts";
import { presentWebhook, webhookFields, webhookLogSchema, webhookSecretSchema } from "./webhook-schemas.ts";

const MAX_BATCH_JOBS = 100;

export const submitBatchSchema = z
  .object({
    workload: submitSchema.shape.workload,
    inputs: z
      .array(z.record(z.string(), z.unknown()))
      .min(1)
      .max(MAX_BATCH_JOBS)
      .openapi({
        description: "One job for each input",
        example: [{ prompt: "Count to 3." }, { prompt: "Count to 5." }],
      }),
    priority: submitSchema.shape.priority,
    fail_mode: z.enum(FAIL_MODES).default("best_effort").openapi({
      description: "fail_fast: the first job that fails or times out cancels the others. best_effort: all run",
    }),
    ...webhookFields,
  })
  .openapi("SubmitBatch");

const countsSchema = z
  .object(
    Object.fromEntries(JOB_STATES.map((state) => [state, z.int()])) as Record<(typeof JOB_STATES)[number], z.ZodInt>,
  )
  .extend({ total: z.int() })
  .openapi("BatchCounts");

export const batchSchema = z
  .object({
    id: z.string().openapi({ example: "batch_01JGFJJZ00000000000000000" }),
    workload_id: z.int(),
    workload_slug: z.string(),
    status: z.enum(BATCH_STATUSES).openapi({
      description: "pending: no job has started. failed: all jobs have ended, at least one failed or timed out",
    }),
    fail_mode: z.enum(FAIL_MODES),
    priority: z.int(),
    counts: countsSchema,
    jobs: z
      .array(z.object({ id: z.string(), status: z.enum(JOB_STATES) }))
      .openapi({ description: "In the order of the inputs" }),
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
