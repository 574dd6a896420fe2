import type { Clock, Timer } from "../../shared/clock.ts";
import type { IslandRegistryEvent } from "../islands/island-registry.ts";
import type { JobErrorCode } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistryEvent } from "../jobs/job-registry-events.ts";
import { DEFAULT_LIMITS } from "../quotas/account-limits.ts";
import type {
  LetDown,
  Scheduler,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerIsland,
  WaitingJob,
} from "../scheduler/scheduler.ts";
import type { Outlook, WorkKind } from "../scheduler/shared-work.ts";
import { Assignments, type AssignmentsDeps } from "./assignments.ts";
import { islandLost, presentJob } from "./present-job.ts";
import { UnrunnableJobs, type UnrunnableJobsDeps } from "./unrunnable-jobs.ts";
import type { WaitReasons } from "./wait-reasons.ts";

export interface DispatcherDeps
  extends AssignmentsDeps, Pick<UnrunnableJobsDeps, "graceMs" | "restartGraceMs" | "others"> {
  readonly scheduler: Scheduler;
  readonly waitReasons: WaitReasons;
  readonly clock: Pick<Clock, "monotonicMs" | "now" | "schedule" | "sleep">;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** What nearly all jobs avoid. */
const NONE: readonly string[] = [];

/**
 * Where jobs meet Islands: takes the events of both registries, asks the scheduler, and answers with commands to the registries.
 * Its only state is the timer for what the scheduler does as time passes.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #assignments: Assignments;
  readonly #unrunnable: UnrunnableJobs;
  readonly #onQuarantine = new Set<(islandId: string) => void>();
  #wake: { readonly atMs: number; readonly timer: Timer } | null = null;
  #isClosed = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#assignments = new Assignments(deps);
    deps.jobs.subscribe((event) => this.#handle(event));
    deps.islands.subscribe((event) => this.#handle(event));
    // It subscribes after the scheduler, which may have assigned a job by then.
    this.#unrunnable = new UnrunnableJobs(deps);
  }

  /** Calls `listener` with an Island that came into quarantine, or left it by a success. */
  onQuarantine(listener: (islandId: string) => void): void {
    this.#onQuarantine.add(listener);
  }

  /** Hands an event to the scheduler and carries out what it decides. */
  schedule(event: SchedulerEvent): void {
    const { scheduler, clock } = this.#deps;
    for (const effect of scheduler.step(event, clock.monotonicMs())) this.#carryOut(effect);
    this.#setWake();
  }

  /** Stops the timer. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.timer.cancel();
    this.#unrunnable.close();
  }

  /** Whether Islands of this coordinator may run jobs of that kind, now or later. */
  outlookFor(kind: WorkKind): Outlook {
    return this.#unrunnable.outlookFor(kind);
  }

  /** True if an Island that neither has the job nor lost or failed it could run it, here or at another coordinator. */
  hasOtherIsland(job: ActiveJob): boolean {
    const { scheduler } = this.#deps;
    const { islandId, avoidIslands } = job;
    const kind = this.#waitingJob(job);
    const tried = new Set(kind.avoidIslands);
    if (islandId !== null) tried.add(islandId);
    if (scheduler.hasIslandFor(kind, tried)) return true;
    // It went back to an Island that it avoids only because no other coordinator had a better one.
    const isLastResort = islandId !== null && avoidIslands.has(islandId);
    return !isLastResort && scheduler.mayRunElsewhere(kind);
  }

  /** The Cargo with this slug is new, changed or gone. */
  cargoChanged(slug: string): void {
    this.#deps.jobs.cargoChanged(slug);
    this.schedule({ kind: "cargo_changed", slug });
  }

  #carryOut(effect: SchedulerEffect): void {
    const { log } = this.#deps;
    switch (effect.kind) {
      case "assign":
        return this.#assignments.assign(effect.jobId, effect.islandId);
      case "quarantine": {
        const { islandId: island_id, quarantine } = effect;
        if (quarantine === null) log.info({ island_id }, "An Island left quarantine: a job succeeded");
        else {
          const { inARow: in_a_row, forMs: for_ms, lastCode: code } = quarantine;
          const facts = { island_id, in_a_row, for_ms, code };
          log.warn(facts, "An Island is in quarantine: it let down several jobs in a row");
        }
        for (const listener of this.#onQuarantine) listener(island_id);
        return undefined;
      }
      default:
        return effect satisfies never;
    }
  }

  /** One timer for all, at the earliest time that the scheduler waits for. */
  #setWake(): void {
    const { scheduler, clock } = this.#deps;
    const atMs = scheduler.nextWakeMs;
    if (atMs === (this.#wake?.atMs ?? null) || this.#isClosed) return;
    this.#wake?.timer.cancel();
    this.#wake = null;
    if (atMs === null) return;
    const timer = clock.schedule(atMs - clock.monotonicMs(), () => {
      this.#wake = null;
      this.schedule({ kind: "time_passed" });
    });
    this.#wake = { atMs, timer };
  }

  #handle(event: JobRegistryEvent | IslandRegistryEvent): void {
    const { jobs, islands, waitReasons } = this.#deps;
    switch (event.type) {
      case "job_offered":
        return this.schedule({ kind: "job_offered", job: this.#waitingJob(event.job) });
      case "offer_withdrawn":
        return this.#withdrawOffer(event.job);
      case "job_waiting":
        return this.schedule({ kind: "job_waiting", job: this.#waitingJob(event.job) });
      case "job_withdrawn":
        return this.schedule({ kind: "job_gone", jobId: event.job.id });
      case "wait_limit_passed":
        // Asked now: once the job has ended, the scheduler no longer knows it.
        return void jobs.expireWait(event.job.id, waitReasons.of(event.job)?.message ?? null);
      case "phase_limit_passed":
        return this.#expirePhase(event.job);
      case "run_limit_passed":
        return this.#expireRun(event.job);
      case "attempt_stopped": {
        const { id: jobId, attempt, islandId } = event.job;
        if (islandId === null) return undefined;
        return islands.stop(islandId, { jobId, attempt }, event.reason);
      }
      case "attempt_begun":
      case "first_output":
      case "attempt_refused":
      case "job_stored":
      case "job_moved":
      case "attempt_failed":
      case "job_ended":
        return undefined;
      case "job_dropped": {
        const { id: jobId, attempt, islandId } = event.job;
        if (islandId === null) return undefined;
        return islands.recall(islandId, { jobId, attempt });
      }
      case "island_up":
        this.#keepFromNewIsland(event.island);
        return this.schedule({ kind: "island_up", island: event.island, busy: event.busy });
      case "island_changed":
        return this.schedule({ kind: "island_changed", island: event.island });
      case "island_down":
        return this.schedule({ kind: "island_down", islandId: event.islandId });
      case "slot_freed":
        return this.schedule({ kind: "slot_freed", islandId: event.islandId, jobId: event.jobId });
      case "slot_superseded":
        return this.schedule({ kind: "slot_superseded", islandId: event.islandId, jobId: event.jobId });
      case "attempts_lost":
        for (const attempt of event.attempts) {
          const job = presentJob(jobs, event.islandId, attempt);
          if (job === undefined) continue;
          this.#letDown(job, event.islandId, "lost", "island_lost");
          void jobs.requeue(job.id, islandLost(event.message), "lost", event.mayReturn);
        }
        return undefined;
      default:
        return event satisfies never;
    }
  }

  #withdrawOffer({ id: jobId, attempt, islandId }: ActiveJob): void {
    if (islandId !== null) return this.#deps.islands.freeSlot(islandId, { jobId, attempt });
    return this.schedule({ kind: "job_gone", jobId });
  }

  /** While the Island is away, the grace is the limit, and it may come back with the attempt. */
  #expirePhase(job: ActiveJob): void {
    const { jobs, islands } = this.#deps;
    const { id, slug, islandId } = job;
    if (islandId === null || islands.get(islandId)?.isConnected !== true) return;
    this.schedule({ kind: "measured", islandId, slug, tokensPerSecond: null, succeeded: false });
    this.#letDown(job, islandId, "failed", "island_silent");
    void jobs.expirePhase(id);
  }

  /** The run limit passed. An Island that gave nothing all the while is asked less. */
  #expireRun(job: ActiveJob): void {
    const { id, slug, islandId, attempt, feed } = job;
    const hasOther = this.hasOtherIsland(job);
    if (islandId !== null && feed.outputAttempt !== attempt) {
      this.schedule({ kind: "measured", islandId, slug, tokensPerSecond: null, succeeded: false });
      this.#letDown(job, islandId, "failed", "run_timeout");
    }
    void this.#deps.jobs.expireRun(id, hasOther);
  }

  #letDown({ slug, accountId }: ActiveJob, islandId: string, cause: LetDown, code: JobErrorCode): void {
    this.schedule({ kind: "let_down", islandId, slug, accountId, cause, code });
  }

  #waitingJob(job: ActiveJob): WaitingJob {
    return {
      id: job.id,
      accountId: job.accountId,
      share: job.share ?? DEFAULT_LIMITS.share,
      slug: job.slug,
      jobClass: job.jobClass,
      onlyIslandsOf: this.#deps.jobs.cargoOf(job)?.privateTo ?? null,
      ...(job.traits === null || job.traits.features.length === 0 ? {} : { features: job.traits.features }),
      priority: job.priority,
      createdAtMs: job.waitsSinceMs,
      waitLimitMs: job.waitDeadlineMs - job.waitsSinceMs,
      avoidIslands: this.#avoidedBy(job),
      ...(job.avoidAccounts.size === 0 ? {} : { avoidAccounts: job.avoidAccounts }),
    };
  }

  #avoidedBy({ avoidIslands, avoidAccounts }: ActiveJob): readonly string[] {
    if (avoidIslands.size === 0 && avoidAccounts.size === 0) return NONE;
    return [...new Set([...avoidIslands, ...this.#deps.islands.connectedOf(avoidAccounts)])];
  }

  /** A host id costs nothing: a new Island is no other one to jobs that avoid its account. */
  #keepFromNewIsland({ id, accountId }: SchedulerIsland): void {
    for (const job of this.#deps.jobs.list()) {
      if (job.state !== "pending" || !job.avoidAccounts.has(accountId) || job.avoidIslands.has(id)) continue;
      this.schedule({ kind: "job_waiting", job: this.#waitingJob(job) });
    }
  }
}
