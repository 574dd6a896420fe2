import type { JobErrorCode } from "../../shared/errors.ts";
import type { Usage } from "../../shared/output.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { PROVEN_FEATURE } from "../credits/trust.ts";
import type { Env } from "../env.ts";
import type { IslandRegistry, IslandRegistryEvent } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import { boundPrompt } from "../jobs/attempts/attempt-meter.ts";
import type { JobPlacement } from "../jobs/job-placement.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobRegistryEvent } from "../jobs/job-registry-events.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import { DEFAULT_LIMITS } from "../quotas/account-limits.ts";
import { openAlarm } from "../scheduler/alarm.ts";
import type { FailureCause } from "../scheduler/circuit-breaker.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Choice, SchedulerEffect, SchedulerEvent, SchedulerIsland, WaitingJob } from "../scheduler/events.ts";
import { islandLost } from "./island-errors.ts";
import { refuseUnrunnableJobs } from "./unrunnable-jobs.ts";

/** Maximum number of jobs whose choice of an Island is kept. */
const MAX_CHOICES = 2_000;
/** The empty list of Islands, and of features. */
const NONE: readonly string[] = [];

export type Dispatcher = ReturnType<typeof openDispatcher>;

/**
 * Passes the events of both registries to the scheduler, and its effects to the registries as commands. Keeps only
 * timers, listeners, and the jobs that `unrunnable-jobs.ts` checks. See `assignments.ts` for `assign`,
 * `wait-reasons.ts` for `explainWait`.
 */
export function openDispatcher(
  env: Env<"islandGraceMs" | "restartGraceMs">,
  scheduler: Scheduler,
  jobs: JobRegistry,
  islands: IslandRegistry,
  assign: (jobId: string, islandId: string) => void,
  explainWait: (job: ActiveJob) => JobWaiting | null,
  outlooksElsewhere: Parameters<typeof refuseUnrunnableJobs>[3],
) {
  const { clock, log } = env;
  const choices = recentMap<Choice>(MAX_CHOICES);
  const onQuarantine = new Set<(islandId: string) => void>();
  const alarm = openAlarm(
    clock,
    () => scheduler.nextWakeMs,
    () => schedule({ kind: "time_passed" }),
  );

  jobs.subscribe(handle);
  islands.subscribe(handle);
  // Subscribes after `handle`, so that the scheduler has tried to assign the job first.
  const unrunnable = refuseUnrunnableJobs(env, jobs, scheduler, outlooksElsewhere);

  function schedule(event: SchedulerEvent): void {
    for (const effect of scheduler.step(event, clock.monotonicMs())) carryOut(effect);
    alarm.set();
  }

  function carryOut(effect: SchedulerEffect): void {
    switch (effect.kind) {
      case "assign":
        choices.set(effect.jobId, effect.choice);
        return assign(effect.jobId, effect.islandId);
      case "quarantine": {
        const { islandId: island_id, quarantine } = effect;
        if (quarantine === null) log.info({ island_id }, "An Island left quarantine after a job succeeded");
        else {
          const { inARow: in_a_row, forMs: for_ms, lastCode: code } = quarantine;
          const facts = { island_id, in_a_row, for_ms, code };
          log.warn(facts, "An Island is in quarantine: it failed several jobs in a row");
        }
        for (const listener of onQuarantine) listener(island_id);
        return undefined;
      }
      default:
        return effect satisfies never;
    }
  }

  function handle(event: JobRegistryEvent | IslandRegistryEvent): void {
    switch (event.type) {
      case "job_offered":
        return schedule({ kind: "job_offered", job: waitingJob(event.job) });
      case "offer_withdrawn":
        return withdrawOffer(event.job);
      case "job_waiting":
        return schedule({ kind: "job_waiting", job: waitingJob(event.job) });
      case "job_withdrawn":
        return schedule({ kind: "job_gone", jobId: event.job.id });
      case "wait_limit_passed":
        // The wait is explained before the job ends: afterwards the scheduler no longer has the job.
        return void jobs.expireWait(event.job.id, explainWait(event.job)?.message ?? null);
      case "phase_limit_passed":
        return expirePhase(event.job);
      case "run_limit_passed":
        return expireRun(event.job);
      case "attempt_stopped": {
        const { id: jobId, attempt, islandId } = event.job;
        if (islandId === null) return undefined;
        return islands.stop(islandId, { jobId, attempt }, event.reason);
      }
      case "attempt_output": {
        const { id: jobId, islandId } = event.job;
        return islandId === null ? undefined : schedule({ kind: "first_output", islandId, jobId });
      }
      case "attempt_begun":
      case "first_output":
      case "attempt_refused":
      case "job_stored":
      case "job_moved":
      case "attempt_failed":
      case "audit_due":
      case "job_ended":
        return undefined;
      case "job_dropped": {
        const { id: jobId, attempt, islandId } = event.job;
        if (islandId === null) return undefined;
        return islands.recall(islandId, { jobId, attempt });
      }
      case "island_up":
        keepFromNewIsland(event.island);
        return schedule({ kind: "island_up", island: event.island, busy: event.busy });
      case "island_changed":
        return schedule({ kind: "island_changed", island: event.island });
      case "island_down":
        return schedule({ kind: "island_down", islandId: event.islandId });
      case "slot_freed":
        return schedule({ kind: "slot_freed", islandId: event.islandId, jobId: event.jobId });
      case "slot_superseded":
        return schedule({ kind: "slot_superseded", islandId: event.islandId, jobId: event.jobId });
      case "attempts_lost":
        for (const attempt of event.attempts) {
          const job = jobs.present(event.islandId, attempt);
          if (job === undefined) continue;
          recordFailure(event.islandId, job, "lost", "island_lost");
          void jobs.requeue(job.id, islandLost(event.message), "lost", event.mayReturn);
        }
        return undefined;
      default:
        return event satisfies never;
    }
  }

  function withdrawOffer({ id: jobId, attempt, islandId, hasEnded }: ActiveJob): void {
    if (hasEnded) return undefined;
    if (islandId !== null) return islands.stop(islandId, { jobId, attempt }, "cancelled");
    return schedule({ kind: "job_gone", jobId });
  }

  /** Ends the attempt unless the Island is away, in which case the grace period is the limit. */
  function expirePhase(job: ActiveJob): void {
    const { id, islandId } = job;
    if (islandId === null || islands.get(islandId)?.isConnected !== true) return;
    failOn(job, islandId, "island_silent");
    void jobs.expirePhase(id);
  }

  /** Ends a job at its run limit. An Island that produced no output by then has failed it. */
  function expireRun(job: ActiveJob): void {
    const { id, islandId, attempt, feed } = job;
    const hasOther = hasOtherIsland(job);
    if (islandId !== null && feed.outputAttempt !== attempt) failOn(job, islandId, "run_timeout");
    void jobs.expireRun(id, hasOther);
  }

  function failOn(job: ActiveJob, islandId: string, code: JobErrorCode): void {
    recordRun(islandId, job, null);
    recordFailure(islandId, job, "failed", code);
  }

  /**
   * Counts a run. Must be called before the slot is freed.
   * @param usage As reported; null for a run that failed.
   */
  function recordRun(islandId: string, { id: jobId, slug, meter, traits }: ActiveJob, usage: Usage | null): void {
    const output = meter?.tokens ?? 0;
    const prompt = usage === null ? 0 : boundPrompt(usage.promptTokens, traits);
    const cached = usage?.cachedTokens === undefined ? null : Math.min(usage.cachedTokens, prompt);
    const tokens = usage === null || output === 0 ? null : { prompt, cached, output };
    schedule({ kind: "run_ended", islandId, jobId, slug, succeeded: usage !== null, tokens });
  }

  /** Counts a failure of an Island. Must be called before the slot is freed and before the job competes again. */
  function recordFailure(
    islandId: string,
    { slug, accountId }: ActiveJob,
    cause: FailureCause,
    code: JobErrorCode,
  ): void {
    schedule({ kind: "failure", islandId, slug, accountId, cause, code });
  }

  /** Returns true if an Island of any coordinator could run the job and has neither lost nor failed it. */
  function hasOtherIsland(job: ActiveJob): boolean {
    const { islandId, avoidIslands } = job;
    const kind = waitingJob(job);
    const tried = new Set(kind.avoidIslands);
    if (islandId !== null) tried.add(islandId);
    if (scheduler.hasIslandFor(kind, tried)) return true;
    // The job returned to an Island that it avoids only because no other coordinator had a better one.
    const isLastResort = islandId !== null && avoidIslands.has(islandId);
    return !isLastResort && scheduler.mayRunElsewhere(kind);
  }

  function waitingJob(job: ActiveJob): WaitingJob {
    const onlyIslandsOf = job.onlyIslandsOf ?? jobs.cargoOf(job)?.privateTo ?? null;
    const features = featuresOf(job, onlyIslandsOf);
    return {
      id: job.id,
      accountId: job.accountId,
      share: job.share ?? DEFAULT_LIMITS.share,
      slug: job.slug,
      jobClass: job.jobClass,
      onlyIslandsOf,
      ...(features.length === 0 ? {} : { features }),
      priority: job.priority,
      createdAtMs: job.waitsSinceMs,
      waitLimitMs: job.waitDeadlineMs - job.waitsSinceMs,
      avoidIslands: avoidedBy(job),
      ...(job.avoidAccounts.size === 0 ? {} : { avoidAccounts: job.avoidAccounts }),
      ...(job.traits === null ? {} : { size: job.traits.size }),
    };
  }

  /** Returns the features that an Island needs, sorted. Islands of a given account need no proof. */
  function featuresOf({ traits, terms }: ActiveJob, onlyIslandsOf: string | null): readonly string[] {
    const features = traits?.features ?? NONE;
    return terms.trust === "proven" && onlyIslandsOf === null ? [...features, PROVEN_FEATURE].toSorted() : features;
  }

  function avoidedBy({ avoidIslands, avoidAccounts }: ActiveJob): readonly string[] {
    if (avoidIslands.size === 0 && avoidAccounts.size === 0) return NONE;
    return [...new Set([...avoidIslands, ...islands.connectedOf(avoidAccounts)])];
  }

  /**
   * Lets jobs that avoid an account also avoid its new Island, because an account can create any number of host ids.
   */
  function keepFromNewIsland({ id, accountId }: SchedulerIsland): void {
    for (const job of jobs.list()) {
      if (job.state !== "pending" || !job.avoidAccounts.has(accountId) || job.avoidIslands.has(id)) continue;
      schedule({ kind: "job_waiting", job: waitingJob(job) });
    }
  }

  /** Explains why the Island has the job, or which Island it waits for; null for an old choice, or without either. */
  function placementOf(jobId: string, islandId: string | null): JobPlacement | null {
    const latest = choices.get(jobId);
    // Another coordinator may have chosen another Island since.
    const choice = latest?.islandId === islandId ? latest : null;
    const reservedIslandId = scheduler.heldFor(jobId);
    return choice === null && reservedIslandId === null ? null : { choice, reservedIslandId };
  }

  return {
    schedule,
    recordRun,
    recordFailure,
    hasOtherIsland,
    outlookFor: unrunnable.outlookFor,
    placementOf,
    /** Calls `listener` with each Island that enters quarantine, or leaves it by a success. */
    onQuarantine(listener: (islandId: string) => void): void {
      onQuarantine.add(listener);
    },
    cargoChanged(slug: string): void {
      jobs.cargoChanged(slug);
      schedule({ kind: "cargo_changed", slug });
    },
    close(): void {
      alarm.close();
      unrunnable.close();
    },
  };
}
