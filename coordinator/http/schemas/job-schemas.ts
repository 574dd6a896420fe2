import { z } from "@hono/zod-openapi";
import { ATTEMPT_PHASES } from "../../../shared/attempt-phase.ts";
import { JOB_ERROR_CODES } from "../../../shared/errors.ts";
import { JOB_STATES, isTerminal } from "../../../shared/job-state.ts";
import { FINISH_REASONS } from "../../../shared/output.ts";
import type { JobHandle, JobView } from "../../jobs/submitted-job.ts";
import { WAITING_REASONS, type JobWaiting } from "../../jobs/job-waiting.ts";
import { attemptsOf } from "../../jobs/attempts/retry-policy.ts";
import type { JobSummary, ListedJob } from "../../store/jobs/job-store.ts";
import { presentTime, presentTimeOrNull, presentUsage, timeSchema, usageSchema } from "./wire-units.ts";
import { orNull } from "./responses.ts";
import { presentWebhook, webhookFields, webhookLogSchema, webhookSecretSchema } from "./webhook-schemas.ts";

export const submitSchema = z
  .object({
    workload: z.string().min(1).max(200).describe("Cargo slug"),
    input: z.record(z.string(), z.unknown()).describe("Parameters of the job; the Cargo's `input_schema` defines them"),
    priority: z
      .int()
      .min(0)
      .max(100)
      .default(0)
      .describe("Order of the account's jobs: a higher priority starts earlier and may cost more"),
    ...webhookFields,
  })
  .openapi("SubmitJob");

export const statesSchema = z
  .string()
  .transform((list) => list.split(",").map((state) => state.trim()))
  .pipe(z.array(z.enum(JOB_STATES)))
  .openapi({ type: "string", description: `Comma-separated list of ${JOB_STATES.join(", ")}` });

export const submittedSchema = z
  .object({
    id: z.string(),
    workload_id: z.int(),
    workload_slug: z.string(),
    status: z.literal("submitted"),
    input: z.record(z.string(), z.unknown()),
    created_at: timeSchema,
    webhook_secret: webhookSecretSchema,
  })
  .openapi("SubmittedJob");

export const summarySchema = z
  .object({
    id: z.string(),
    workload_slug: z.string(),
    status: z.enum(JOB_STATES),
    created_at: timeSchema,
    completed_at: timeSchema.nullable(),
    batch_id: z.string().nullable(),
  })
  .openapi("JobSummary");

export const listedSchema = summarySchema
  .extend({
    workload_id: z.int(),
    input: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe("Null if the input is longer than 4 KB; empty after its removal"),
  })
  .openapi("ListedJob");

export const errorSchema = z.object({ code: z.enum(JOB_ERROR_CODES), message: z.string(), retryable: z.boolean() });

export const percentSchema = z
  .int()
  .min(0)
  .max(100)
  .describe("Progress of the model's download in percent, if it is known");

const waitingSchema = z
  .object({
    reason: z.enum(WAITING_REASONS),
    position: z.int().min(1).describe("Position in the queue of the job's Cargo; the job at position 1 is next"),
    message: z.string().describe("The reason as a sentence"),
    percent: percentSchema.nullable(),
    phase: z
      .enum(ATTEMPT_PHASES)
      .nullable()
      .describe("What the assigned Island must do before the job runs; null while no Island is assigned"),
  })
  .openapi("Waiting", {
    description: "Why the job has not started or has no output yet; null for any other job",
  });

export const detailSchema = z
  .object({
    id: z.string(),
    workload_id: z.int(),
    workload_slug: z.string(),
    status: z.enum(JOB_STATES),
    priority: z.int(),
    input: z.record(z.string(), z.unknown()).describe("Input of the job; empty after its removal"),
    input_removed_at: timeSchema
      .nullable()
      .describe(
        "When the input was removed, by its owner or at the end of the retention period; null while it is stored",
      ),
    output_removed_at: timeSchema
      .nullable()
      .describe("When the output, the stream and the error message were removed; null while they are stored"),
    output: z.unknown().describe("Text, or the JSON value that the Cargo produced; null until the job is completed"),
    usage: orNull(usageSchema).describe("Usage of the job; null until it has ended"),
    created_at: timeSchema,
    started_at: timeSchema.nullable(),
    completed_at: timeSchema.nullable(),
    duration_ms: z
      .int()
      .nullable()
      .describe("Time from start to end; null until the job has ended, or if it never started"),
    finish_reason: z.enum(FINISH_REASONS).nullable(),
    error: errorSchema.nullable(),
    attempts: z.int().describe("Number of attempts so far; an assignment that the Island refused does not count"),
    island_id: z.string().nullable(),
    waiting: orNull(waitingSchema),
    timings: z
      .object({
        load_ms: z.number().describe("Time to download and load the model; 0 if it was in memory"),
        first_output_ms: z.number().nullable().describe("Time from the load to the first output; null without output"),
        run_ms: z.number().describe("Time from the load to the end of the run"),
      })
      .nullable(),
    batch_id: z.string().nullable(),
    ignored: z
      .array(z.string())
      .describe("Paths of the request's ignored parameters, as in the header `Atoll-Ignored`"),
    webhook: orNull(webhookLogSchema),
  })
  .openapi("Job");

export function presentSubmitted({ record: job, webhookSecret }: JobHandle): z.infer<typeof submittedSchema> {
  return {
    id: job.id,
    workload_id: job.workloadId,
    workload_slug: job.slug,
    status: "submitted",
    input: { ...job.input },
    created_at: presentTime(job.createdAtMs),
    ...(webhookSecret === null ? {} : { webhook_secret: webhookSecret }),
  };
}

export function presentSummary(job: JobSummary): z.infer<typeof summarySchema> {
  return {
    id: job.id,
    workload_slug: job.slug,
    status: job.state,
    created_at: presentTime(job.createdAtMs),
    completed_at: presentTimeOrNull(job.completedAtMs),
    batch_id: job.batchId,
  };
}

export function presentListed(job: ListedJob): z.infer<typeof listedSchema> {
  return { ...presentSummary(job), workload_id: job.workloadId, input: job.input && { ...job.input } };
}

export function presentDetail(job: JobView): z.infer<typeof detailSchema> {
  const { startedAtMs, completedAtMs, error, timings, waiting } = job;
  return {
    id: job.id,
    workload_id: job.workloadId,
    workload_slug: job.slug,
    status: job.state,
    priority: job.priority,
    input: { ...job.input },
    input_removed_at: presentTimeOrNull(job.inputRemovedAtMs),
    output_removed_at: presentTimeOrNull(job.outputRemovedAtMs),
    output: job.output ?? null,
    usage: isTerminal(job.state) ? presentUsage(job.usage, job.creditsUsedMicro) : null,
    created_at: presentTime(job.createdAtMs),
    started_at: presentTimeOrNull(startedAtMs),
    completed_at: presentTimeOrNull(completedAtMs),
    duration_ms: startedAtMs === null || completedAtMs === null ? null : completedAtMs - startedAtMs,
    finish_reason: job.finishReason,
    error: error && { code: error.code, message: error.message, retryable: error.retryable },
    attempts: attemptsOf(job),
    island_id: job.islandId,
    waiting: waiting && presentWaiting(waiting),
    timings: timings && { load_ms: timings.loadMs, first_output_ms: timings.firstOutputMs, run_ms: timings.runMs },
    batch_id: job.batchId,
    ignored: [...(job.ignoredParameters ?? [])],
    webhook: presentWebhook(job.webhook),
  };
}

function presentWaiting({ reason, position, message, percent, phase }: JobWaiting): z.infer<typeof waitingSchema> {
  return { reason, position, message, percent: percent ?? null, phase: phase ?? null };
}
