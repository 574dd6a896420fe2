import { z } from "@hono/zod-openapi";
import { JOB_STATES } from "../../../shared/job-state.ts";
import { ROLES } from "../../store/accounts/accounts.ts";
import { AUDIT_TARGETS, type AuditLine } from "../../store/accounts/audit-log.ts";
import {
  ANNOUNCEMENT_LEVELS,
  type Announcement,
  type KnownAccount,
  type KnownJob,
} from "../../store/accounts/operators.ts";
import { WAITING_REASONS } from "../../jobs/job-waiting.ts";
import { MAX_ANNOUNCEMENT_CHARS } from "../../operators/announcements.ts";
import { MAX_SHOWN_ISLANDS, type WaitingWork } from "../../cluster/messages.ts";
import type { CoordinatorLine, Overview } from "../../operators/network-view.ts";
import type { AccountDetail } from "../../operators/operator-accounts.ts";
import { orNull } from "./responses.ts";
import { creditsSchema, presentCredits, presentTime, presentTimeOrNull, timeSchema } from "./wire-units.ts";

const suspensionSchema = z.object({ reason: z.string(), since: timeSchema }).openapi("Suspension");

export const knownAccountSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    role: z.enum(ROLES),
    credits: creditsSchema,
    held: creditsSchema.describe("Credits held for unfinished jobs"),
    unfinished_jobs: z.int(),
    islands: z.int().describe("Number of the account's Islands, connected or not"),
    suspended: orNull(suspensionSchema),
    created_at: timeSchema,
  })
  .openapi("KnownAccount");

export const limitsSchema = z
  .object({
    requests_per_minute: z.int().describe("Maximum requests of each key and each session"),
    concurrent_jobs: z.int().describe("Maximum number of unfinished jobs"),
    concurrent_streams: z.int().describe("Maximum number of open streams"),
    share: z.int().describe("Weight of the account when slot time is shared between accounts"),
  })
  .openapi("AccountLimits");

export const accountDetailSchema = knownAccountSchema.extend({ limits: limitsSchema }).openapi("KnownAccountDetail");

export const knownJobSchema = z
  .object({
    id: z.string(),
    account_id: z.string(),
    account_email: z.string().nullable().describe("Null for a deleted account"),
    batch_id: z.string().nullable(),
    workload_slug: z.string(),
    status: z.enum(JOB_STATES),
    chat: z.boolean().describe("Whether a client waits for the completion"),
    priority: z.int(),
    attempts: z.int().describe("Number of attempts so far"),
    island_id: z.string().nullable(),
    error_code: z.string().nullable(),
    prompt_tokens: z.int().nullable(),
    completion_tokens: z.int().nullable(),
    price: creditsSchema,
    credits_used: creditsSchema,
    created_at: timeSchema,
    started_at: timeSchema.nullable(),
    completed_at: timeSchema.nullable(),
  })
  .openapi("KnownJob", { description: "A job without its input and output, which operators cannot see" });

const slotsSchema = z.object({ free: z.int(), all: z.int() });
const coordinatorSchema = z
  .object({
    id: z.string().nullable().describe("Null if there is only one coordinator"),
    address: z.string(),
    version: z.string(),
    answers: z.boolean().describe("False if the coordinator did not reply in time; the totals exclude it"),
    islands: z.int(),
    slots: slotsSchema,
    jobs: z.object({ running: z.int(), waiting: z.int() }),
  })
  .openapi("CoordinatorOverview");

const workSchema = z
  .object({
    prompt_tokens: z.int(),
    cached_prompt_tokens: z
      .int()
      .describe(
        "Prompt tokens that Islands had in their caches. For an agent that does not report them, the number that the coordinator expected",
      ),
    islands: z
      .array(
        z.object({
          island_id: z.string(),
          slots: z.int(),
          completion_tokens: z.int().describe("Tokens of attempts that ended"),
          cached_prompt_tokens: z.int(),
        }),
      )
      .describe(`The ${MAX_SHOWN_ISLANDS} connected Islands with the most completion tokens`),
  })
  .openapi("NetworkWork", { description: "Work of jobs that ended in the last 10 minutes" });

export const overviewSchema = z
  .object({
    islands: z.object({ online: z.int(), known: z.int() }),
    slots: slotsSchema.describe("Numbers of slots on Islands that accept new jobs"),
    jobs: z.object({ running: z.int(), waiting: z.int(), finished_last_minute: z.int() }),
    waiting_by_reason: z.array(z.object({ reason: z.enum(WAITING_REASONS), jobs: z.int() })),
    tokens_per_second: z.number(),
    first_token_ms: z
      .object({ p50: z.number().nullable(), p99: z.number().nullable() })
      .describe(
        "Median and 99th percentile of the time from a job's submission, or its admission in a batch, to its first token, for jobs that ended in the last minute; accurate to 5 %. Null without such jobs",
      ),
    errors_last_minute: z.int().describe("Number of jobs that failed or timed out in the last minute"),
    work_last_10_minutes: workSchema,
    coordinators: z.array(coordinatorSchema),
    is_complete: z.boolean().describe("False if a coordinator did not reply; the totals exclude it"),
  })
  .openapi("NetworkOverview", {
    description:
      "Totals over all coordinators, at most 1.5 s old. The count of known Islands is cached for 1 ms per Island: with 5,000 Islands it is at most 5 s old",
  });

export const queueLineSchema = z
  .object({
    workload_slug: z.string(),
    only_islands_of: z
      .string()
      .nullable()
      .describe(
        "Id of the only account whose Islands may run the jobs, because the Cargo is not approved; null if all Islands may",
      ),
    jobs: z.int(),
    reason: z.enum(WAITING_REASONS),
    message: z
      .string()
      .describe("Why the oldest job waits, according to the coordinator that has the most of these jobs"),
    waiting_since: timeSchema.describe("When the oldest job started to wait"),
  })
  .openapi("QueueLine");

export const auditLineSchema = z
  .object({
    id: z.int().describe("Id of the entry; increases with time"),
    at: timeSchema,
    via: z.enum(["api", "command"]),
    actor: z.string().describe("The operator's account; for a command, the user of the operating system"),
    actor_email: z.string().nullable().describe("Null for a command and for a deleted account"),
    origin: z.string().describe("The client's address; for a command, the machine's name"),
    action: z.string().describe("Name of the action, which ends in `.failed` if the action was refused"),
    target: z.object({ kind: z.enum(AUDIT_TARGETS), id: z.string() }),
    before: z.unknown().describe("Values before the action, or null"),
    after: z.unknown().describe("Values that the action set, the error of a refused action, or null"),
  })
  .openapi("AuditLine");

export const announcementSchema = z
  .object({
    id: z.string(),
    level: z.enum(ANNOUNCEMENT_LEVELS),
    text: z.string().openapi({ maxLength: MAX_ANNOUNCEMENT_CHARS, description: "Plain text" }),
    created_at: timeSchema,
    until: timeSchema
      .nullable()
      .describe("When the announcement expires; null if it is shown until an operator removes it"),
  })
  .openapi("Announcement");

export function presentKnownAccount(account: KnownAccount): z.infer<typeof knownAccountSchema> {
  const { suspension } = account;
  return {
    id: account.id,
    email: account.email,
    role: account.role,
    credits: presentCredits(account.balanceMicro),
    held: presentCredits(account.heldMicro),
    unfinished_jobs: account.unfinishedJobs,
    islands: account.islands,
    suspended: suspension && { reason: suspension.reason, since: presentTime(suspension.atMs) },
    created_at: presentTime(account.createdAtMs),
  };
}

export function presentAccountDetail(account: AccountDetail): z.infer<typeof accountDetailSchema> {
  return { ...presentKnownAccount(account), limits: presentLimits(account.limits) };
}

export function presentLimits(limits: AccountDetail["limits"]): z.infer<typeof limitsSchema> {
  return {
    requests_per_minute: limits.requestsPerMinute,
    concurrent_jobs: limits.concurrentJobs,
    concurrent_streams: limits.concurrentStreams,
    share: limits.share,
  };
}

export const presentEmail = (email: string | null): string | null => (email === "" ? null : email);

export function presentKnownJob(job: KnownJob): z.infer<typeof knownJobSchema> {
  return {
    id: job.id,
    account_id: job.accountId,
    account_email: presentEmail(job.email),
    batch_id: job.batchId,
    workload_slug: job.slug,
    status: job.state,
    chat: job.jobClass === "chat",
    priority: job.priority,
    attempts: job.attempt,
    island_id: job.islandId,
    error_code: job.errorCode,
    prompt_tokens: job.promptTokens,
    completion_tokens: job.completionTokens,
    price: presentCredits(job.priceMicro),
    credits_used: presentCredits(job.creditsUsedMicro),
    created_at: presentTime(job.createdAtMs),
    started_at: presentTimeOrNull(job.startedAtMs),
    completed_at: presentTimeOrNull(job.completedAtMs),
  };
}

export function presentOverview(overview: Overview): z.infer<typeof overviewSchema> {
  const byReason = new Map<WaitingWork["reason"], number>();
  for (const { reason, jobs } of overview.queue) byReason.set(reason, (byReason.get(reason) ?? 0) + jobs);
  const { jobs, firstTokenMs } = overview;
  return {
    islands: overview.islands,
    slots: overview.slots,
    jobs: { running: jobs.running, waiting: jobs.waiting, finished_last_minute: jobs.finishedLastMinute },
    waiting_by_reason: [...byReason]
      .map(([reason, count]) => ({ reason, jobs: count }))
      .sort((a, b) => b.jobs - a.jobs),
    tokens_per_second: Math.round(overview.tokensPerSecond * 10) / 10,
    first_token_ms: firstTokenMs,
    errors_last_minute: overview.errorsLastMinute,
    work_last_10_minutes: {
      prompt_tokens: overview.work.promptTokens,
      cached_prompt_tokens: overview.work.cachedTokens,
      islands: overview.work.islands.map(({ islandId, slots, outputTokens, cachedTokens }) => ({
        island_id: islandId,
        slots,
        completion_tokens: outputTokens,
        cached_prompt_tokens: cachedTokens,
      })),
    },
    coordinators: overview.coordinators.map(presentCoordinator),
    is_complete: overview.coordinators.every(({ metrics }) => metrics !== null),
  };
}

function presentCoordinator({ id, address, version, metrics }: CoordinatorLine): z.infer<typeof coordinatorSchema> {
  const { islands = 0, slots = { free: 0, all: 0 }, jobs = { running: 0, waiting: 0 } } = metrics ?? {};
  return { id, address, version, answers: metrics !== null, islands, slots, jobs };
}

export function presentQueueLine(line: WaitingWork): z.infer<typeof queueLineSchema> {
  return {
    workload_slug: line.slug,
    only_islands_of: line.onlyIslandsOf,
    jobs: line.jobs,
    reason: line.reason,
    message: line.message,
    waiting_since: presentTime(line.oldestAtMs),
  };
}

export function presentAuditLine(line: AuditLine): z.infer<typeof auditLineSchema> {
  const { id, atMs, via, actor, email, origin, action, targetKind, targetId, before, after } = line;
  const target = { kind: targetKind, id: targetId };
  return {
    id,
    at: presentTime(atMs),
    via,
    actor,
    actor_email: presentEmail(email),
    origin,
    action,
    target,
    before,
    after,
  };
}

export function presentAnnouncement(announcement: Announcement): z.infer<typeof announcementSchema> {
  const { id, level, text, createdAtMs, untilMs } = announcement;
  return { id, level, text, created_at: presentTime(createdAtMs), until: presentTimeOrNull(untilMs) };
}
