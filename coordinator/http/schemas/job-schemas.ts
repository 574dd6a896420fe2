import { z } from "@hono/zod-openapi";
import { ATTEMPT_PHASES } from "../../../shared/attempt-phase.ts";
import { JOB_ERROR_CODES } from "../../../shared/errors.ts";
import { JOB_STATES, isTerminal } from "../../../shared/job-state.ts";
import { FINISH_REASONS } from "../../../shared/output.ts";
import type { JobHandle, JobView } from "../../jobs/submitted-job.ts";
import { AUDITS, NO_TERMS, TRUSTS } from "../../credits/trust.ts";
import { VERDICTS } from "../../credits/standing.ts";
import { WAITING_REASONS, type JobWaiting } from "../../jobs/job-waiting.ts";
import type { JobPlacement } from "../../jobs/job-placement.ts";
import { attemptsOf } from "../../jobs/attempts/retry-policy.ts";
import { CHOICE_REASONS, type CandidateCost } from "../../scheduler/events.ts";
import type { Audit } from "../../store/audits.ts";
import type { JobSummary, ListedJob } from "../../store/jobs/job-store.ts";
import { presentTime, presentTimeOrNull, presentUsage, timeSchema, usageSchema } from "./wire-units.ts";
import { orNull } from "./responses.ts";
import { trustFields } from "./trust-fields.ts";
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
    ...trustFields,
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

const ms = z.int();
const candidateSchema = z
  .object({
    island_id: z.string(),
    cost_ms: ms.describe("Expected cost: (the sum of the times + `slowdown_ms`) * `risk`"),
    wait_ms: ms.describe("Time until a slot is free"),
    load_ms: ms.describe("Time to download and load the model"),
    read_ms: ms.describe("Time to read the prompt, or to run a job without tokens"),
    write_ms: ms.describe("Time to generate the output"),
    rtt_ms: ms.describe("Round trip to the Island"),
    slowdown_ms: ms.describe("Delay of the jobs that already run there"),
    risk: z.number().describe("Factor for the Island's failures, at least 1"),
    cached_tokens: z.int().describe("Prompt tokens that are expected to be in the Island's cache"),
  })
  .openapi("CandidateCost");

const placementSchema = z
  .object({
    reason: z
      .enum(CHOICE_REASONS)
      .nullable()
      .describe("`cost`: the Island's cost was lowest, or close to it. `trial`: to measure the Island"),
    island_id: z.string().nullable().describe("The chosen Island"),
    candidates: z.array(candidateSchema).describe("The Islands that were compared, the cheapest first"),
    reserved_island_id: z
      .string()
      .nullable()
      .describe("The busy Island of which a slot is reserved for the waiting job"),
  })
  .openapi("Placement", {
    description:
      "Why the Island of the current attempt was chosen, from the memory of its coordinator. Null without an operator's session, without a choice, for all but the coordinator's latest 2,000 jobs, and for ended jobs of other coordinators",
  });

const verificationSchema = z
  .object({
    verdict: z
      .enum(["not_chosen", "pending", ...VERDICTS])
      .describe(
        "`not_chosen`: the job was not chosen for an audit. `pending`: the audit has not ended. `consistent`: the answer is one that the model gives. `inconsistent`: it is not. `unclear`: no reader was found, or the readers could not judge",
      ),
    readers: z.int().describe("Number of readings of the answer by Islands of other owners"),
    refunded: z.boolean().describe("Whether the client got the whole charge back"),
  })
  .openapi("Verification", {
    description:
      "Audit of the answer by Islands of other owners. Null before the end of the job, if its Island's owner was paid at once, and 90 days after the end",
  });

export const detailSchema = z
  .object({
    id: z.string(),
    workload_id: z.int(),
    workload_slug: z.string(),
    status: z.enum(JOB_STATES),
    priority: z.int(),
    trust: z.enum(TRUSTS).describe("Islands that may run the job: the strictest demand of request, API key and Cargo"),
    audit: z.enum(AUDITS).describe("`never`: no other Island may read the answer for an audit"),
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
    placement: orNull(placementSchema),
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
    verification: orNull(verificationSchema),
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

/** @param showsPlacement Whether the caller is an operator. */
export function presentDetail(job: JobView, showsPlacement: boolean): z.infer<typeof detailSchema> {
  const { startedAtMs, completedAtMs, error, timings, waiting, placement } = job;
  const { trust, audit } = job.terms ?? NO_TERMS;
  return {
    id: job.id,
    workload_id: job.workloadId,
    workload_slug: job.slug,
    status: job.state,
    priority: job.priority,
    trust,
    audit,
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
    placement: showsPlacement && placement !== null ? presentPlacement(placement) : null,
    timings: timings && { load_ms: timings.loadMs, first_output_ms: timings.firstOutputMs, run_ms: timings.runMs },
    batch_id: job.batchId,
    ignored: [...(job.ignoredParameters ?? [])],
    webhook: presentWebhook(job.webhook),
    verification: job.audit && presentVerification(job.audit),
  };
}

function presentVerification({ verdict, readings, earning, mayAudit }: Audit): z.infer<typeof verificationSchema> {
  const names = { none: "not_chosen", due: "pending" } as const;
  return {
    verdict: verdict === "none" || verdict === "due" ? names[verdict] : verdict,
    readers: readings.length,
    refunded: earning === "refunded" && mayAudit,
  };
}

function presentPlacement({ choice, reservedIslandId }: JobPlacement): z.infer<typeof placementSchema> {
  return {
    reason: choice?.reason ?? null,
    island_id: choice?.islandId ?? null,
    candidates: choice?.candidates.map(presentCandidate) ?? [],
    reserved_island_id: reservedIslandId,
  };
}

function presentCandidate(candidate: CandidateCost): z.infer<typeof candidateSchema> {
  return {
    island_id: candidate.islandId,
    cost_ms: Math.round(candidate.costMs),
    wait_ms: Math.round(candidate.waitMs),
    load_ms: Math.round(candidate.loadMs),
    read_ms: Math.round(candidate.readMs),
    write_ms: Math.round(candidate.writeMs),
    rtt_ms: Math.round(candidate.rttMs),
    slowdown_ms: Math.round(candidate.slowdownMs),
    risk: Math.round(candidate.risk * 100) / 100,
    cached_tokens: Math.round(candidate.cachedTokens),
  };
}

function presentWaiting({ reason, position, message, percent, phase }: JobWaiting): z.infer<typeof waitingSchema> {
  return { reason, position, message, percent: percent ?? null, phase: phase ?? null };
}
