import type { Clock } from "../../shared/clock.ts";
import type { IslandRegistryEvent } from "../islands/island-registry-events.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistryEvent } from "../jobs/job-registry-events.ts";
import type { Scheduler, SchedulerEvent, WaitingJob } from "../scheduler/scheduler.ts";
import { Assignments, type AssignmentsDeps } from "./assignments.ts";
import { islandLost, presentJob } from "./present-job.ts";
import type { WaitReasons } from "./wait-reasons.ts";

export interface DispatcherDeps extends AssignmentsDeps {
  readonly scheduler: Scheduler;
  readonly waitReasons: WaitReasons;
  readonly clock: Pick<Clock, "now">;
}

/**
 * Where jobs meet Islands: takes the events of both registries, asks the scheduler, and answers with commands to the registries.
 * It has no state of its own.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #assignments: Assignments;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#assignments = new Assignments(deps);
    deps.jobs.subscribe((event) => this.#handle(event));
    deps.islands.subscribe((event) => this.#handle(event));
  }

  /** Hands an event to the scheduler and carries out what it decides. */
  schedule(event: SchedulerEvent): void {
    const { scheduler, clock } = this.#deps;
    for (const { jobId, islandId } of scheduler.step(event, clock.now())) this.#assignments.assign(jobId, islandId);
  }

  /** The Cargo with this slug is new, changed or gone. */
  cargoChanged(slug: string): void {
    this.#deps.jobs.cargoChanged(slug);
    this.schedule({ kind: "cargo_changed", slug });
  }

  #handle(event: JobRegistryEvent | IslandRegistryEvent): void {
    const { jobs, islands, waitReasons } = this.#deps;
    switch (event.type) {
      case "job_waiting":
        return this.schedule({ kind: "job_waiting", job: this.#waitingJob(event.job) });
      case "job_withdrawn":
        return this.schedule({ kind: "job_gone", jobId: event.job.id });
      case "wait_limit_passed":
        // Asked now: once the job has ended, the scheduler no longer knows it.
        return void jobs.expireWait(event.job.id, waitReasons.of(event.job)?.message ?? null);
      case "phase_limit_passed":
        return this.#expirePhase(event.job);
      case "attempt_stopped": {
        const { id: jobId, attempt, islandId } = event.job;
        if (islandId !== null) islands.stop(islandId, { jobId, attempt }, event.reason);
        return undefined;
      }
      case "job_ended":
        return undefined;
      case "island_up":
        return this.schedule({ kind: "island_up", island: event.island, busy: event.busy });
      case "island_changed":
        return this.schedule({ kind: "island_changed", island: event.island });
      case "island_down":
        return this.schedule({ kind: "island_down", islandId: event.islandId });
      case "slot_freed":
        return this.schedule({ kind: "slot_freed", islandId: event.islandId });
      case "attempts_lost":
        for (const attempt of event.attempts) {
          const job = presentJob(jobs, event.islandId, attempt);
          if (job !== undefined) void jobs.attempts.requeue(job.id, islandLost(event.message), event.mayReturn);
        }
        return undefined;
      default:
        return event satisfies never;
    }
  }

  /** While the Island is away, the grace is the limit, and it may come back with the attempt. */
  #expirePhase({ id, slug, islandId }: ActiveJob): void {
    const { jobs, islands } = this.#deps;
    if (islandId === null || islands.get(islandId)?.isConnected !== true) return;
    this.schedule({ kind: "measured", islandId, slug, tokensPerSecond: null, succeeded: false });
    void jobs.attempts.expirePhase(id);
  }

  #waitingJob(job: ActiveJob): WaitingJob {
    return {
      id: job.id,
      accountId: job.accountId,
      slug: job.slug,
      onlyIslandsOf: this.#deps.jobs.cargoOf(job)?.privateTo ?? null,
      priority: job.priority,
      createdAtMs: job.waitsSinceMs,
      avoidIslands: [...job.avoidIslands],
    };
  }
}
