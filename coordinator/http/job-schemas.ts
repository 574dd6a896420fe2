import { z } from "@hono/zod-openapi";
import { JOB_STATES, isTerminal } from "../../shared/job-state.ts";
import type { Timings } from "../../shared/output.ts";
import type { JobView } from "../jobs/job-service.ts";
import type { JobRecord, JobSummary } from "../store/job-store.ts";
import { presentTime, presentTimeOrNull, presentUsage, timeSchema, usageSchema } from "./presenters.ts";

export const submitSchema = z
  .object({
    workload: z.string().min(1).max(200).openapi({ description: "Cargo slug", example: "tiny-islander" }),
    input: z
      .record(z.string(), z.unknown())
      .openapi({ description: "Cargo-specific parameters; see input_schema of the Cargo" }),
    priority: z.int().min(0).max(100).default(0),
  })
  .openapi("SubmitJob");

export const submittedSchema = z
  .object({
    id: z.string(),
    workload_id: z.int(),
    workload_slug: z.string(),
    status: z.literal("submitted"),
    input: z.record(z.string(), z.unknown()),
    created_at: timeSchema,
  })
  .openapi("SubmittedJob");

export const summarySchema = z
  .object({
    id: z.string(),
    workload_slug: z.string(),
    status: z.enum(JOB_STATES),
    created_at: timeSchema,
    completed_at: timeSchema.nullable(),
  })
  .openapi("JobSummary");

export const detailSchema = z
  .object({
    id: z.string(),
    workload_id: z.int(),
    workload_slug: z.string(),
    status: z.enum(JOB_STATES),
    priority: z.int(),
    input: z.record(z.string(), z.unknown()),
    output: z
      .unknown()
      .openapi({ description: "Text, or the JSON value that the Cargo produced; null unless completed" }),
    usage: usageSchema.nullable(),
    created_at: timeSchema,
    started_at: timeSchema.nullable(),
    completed_at: timeSchema.nullable(),
    duration_ms: z.int().nullable(),
    finish_reason: z.string().nullable(),
    error: z.object({ code: z.string(), message: z.string(), retryable: z.boolean() }).nullable(),
    attempts: z.int(),
    island_id: z.string().nullable(),
    waiting: z.object({ reason: z.string(), position: z.int().nullable(), message: z.string() }).nullable(),
    timings: z.object({ load_ms: z.number(), first_output_ms: z.number().nullable(), run_ms: z.number() }).nullable(),
  })
  .openapi("Job");

export function presentSubmitted(job: JobRecord): z.infer<typeof submittedSchema> {
  return {
    id: job.id,
    workload_id: job.workloadId,
    workload_slug: job.slug,
    status: "submitted",
    input: { ...job.input },
    created_at: presentTime(job.createdAtMs),
  };
}

export function presentSummary(job: JobSummary): z.infer<typeof summarySchema> {
  return {
    id: job.id,
    workload_slug: job.slug,
    status: job.state,
    created_at: presentTime(job.createdAtMs),
    completed_at: presentTimeOrNull(job.completedAtMs),
  };
}

export function presentDetail(job: JobView): z.infer<typeof detailSchema> {
  const { startedAtMs, completedAtMs, error, waiting } = job;
  return {
    id: job.id,
    workload_id: job.workloadId,
    workload_slug: job.slug,
    status: job.state,
    priority: job.priority,
    input: { ...job.input },
    output: job.output ?? null,
    usage: isTerminal(job.state) ? presentUsage(job.usage, job.creditsUsedMicro) : null,
    created_at: presentTime(job.createdAtMs),
    started_at: presentTimeOrNull(startedAtMs),
    completed_at: presentTimeOrNull(completedAtMs),
    duration_ms: startedAtMs === null || completedAtMs === null ? null : completedAtMs - startedAtMs,
    finish_reason: job.finishReason,
    error: error === null ? null : { code: error.code, message: error.message, retryable: error.retryable },
    attempts: job.attempt,
    island_id: job.islandId,
    waiting: waiting === null ? null : { reason: waiting.reason, position: waiting.position, message: waiting.message },
    timings: job.timings === null ? null : presentTimings(job.timings),
  };
}

function presentTimings({ loadMs, firstOutputMs, runMs }: Timings) {
  return { load_ms: loadMs, first_output_ms: firstOutputMs, run_ms: runMs };
}
