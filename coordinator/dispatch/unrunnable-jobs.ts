import type { Clock, Timer } from "../../shared/clock.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Outlook, SharedWork, WorkKind } from "../scheduler/shared-work.ts";
import { workKeyOf } from "../scheduler/slot-offer.ts";

export interface UnrunnableJobsDeps {
  readonly jobs: Pick<JobRegistry, "get" | "subscribe" | "refuseWait">;
  readonly scheduler: { readonly shared: Pick<SharedWork, "kindOf" | "outlookFor"> };
  readonly clock: Pick<Clock, "monotonicMs" | "schedule">;
  /** How long an Island that left may take to come back. */
  readonly graceMs: number;
  /** The same for all Islands after a start of this coordinator. */
  readonly restartGraceMs: number;
  /** The other coordinators; null if this is the only one. */
  readonly others: {
    /** One outlook for each; null for a coordinator that does not respond. */
    outlooksFor(kind: WorkKind): Promise<readonly (Outlook | null)[]>;
  } | null;
}

/**
 * How long a client waits before it is refused, and how often its job is checked. Long enough for an Island that changes its session or its
 * settings, shorter than the time in which a stream gets its headers, so that the refusal has a status.
 */
export const REFUSE_AFTER_MS = 2_500;

/**
 * Refuses jobs whose clients wait for the answer when each Island of the network lacks something that no wait brings: a runtime, memory, a
 * feature, its owner's consent. They wait on while Islands may be on their way: none is online, one that fits left within its grace, or a
 * coordinator has just started.
 */
export class UnrunnableJobs {
  readonly #deps: UnrunnableJobsDeps;
  readonly #startedMs: number;
  /** When each watched job is checked next, by id, the earliest first. */
  readonly #dueMs = new Map<string, number>();
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(deps: UnrunnableJobsDeps) {
    this.#deps = deps;
    this.#startedMs = deps.clock.monotonicMs();
    deps.jobs.subscribe((event) => {
      if (event.type === "job_waiting" && isWaiting(event.job)) this.#watch(event.job.id);
    });
  }

  /** Whether Islands of this coordinator may run jobs of that kind, now or later. */
  outlookFor(kind: WorkKind): Outlook {
    const { scheduler, clock, graceMs, restartGraceMs } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#startedMs < restartGraceMs) return { is: "possible" };
    return scheduler.shared.outlookFor(kind, nowMs - graceMs);
  }

  /** Stops the timer. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #watch(jobId: string): void {
    if (this.#dueMs.has(jobId)) return;
    this.#dueMs.set(jobId, this.#deps.clock.monotonicMs() + REFUSE_AFTER_MS);
    this.#setTimer();
  }

  #setTimer(): void {
    const [dueMs] = this.#dueMs.values();
    if (this.#timer !== null || this.#isClosed || dueMs === undefined) return;
    this.#timer = this.#deps.clock.schedule(dueMs - this.#deps.clock.monotonicMs(), () => {
      this.#timer = null;
      this.#look();
      this.#setTimer();
    });
  }

  #look(): void {
    const { jobs, scheduler, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    const kinds = new Map<string, { readonly kind: WorkKind; readonly jobIds: string[] }>();
    for (const [jobId, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) break;
      this.#dueMs.delete(jobId);
      const kind = scheduler.shared.kindOf(jobId);
      const job = jobs.get(jobId);
      if (job === undefined || !isWaiting(job)) continue;
      this.#dueMs.set(jobId, nowMs + REFUSE_AFTER_MS);
      if (kind === undefined) continue;
      const same = kinds.get(workKeyOf(kind));
      if (same === undefined) kinds.set(workKeyOf(kind), { kind, jobIds: [jobId] });
      else same.jobIds.push(jobId);
    }
    for (const { kind, jobIds } of kinds.values()) void this.#refuseIfLacking(kind, jobIds);
  }

  async #refuseIfLacking(kind: WorkKind, jobIds: readonly string[]): Promise<void> {
    const { jobs, others } = this.#deps;
    if (this.outlookFor(kind).is === "possible") return;
    const elsewhere = (await others?.outlooksFor(kind)) ?? [];
    const all = [this.outlookFor(kind), ...elsewhere];
    // A coordinator that does not respond may have an Island that fits.
    if (all.some((outlook) => outlook === null || outlook.is === "possible")) return;
    const lacks = new Set(all.flatMap((outlook) => (outlook?.is === "lacking" ? [outlook.message] : [])));
    if (lacks.size === 0) return;
    for (const id of jobIds) {
      const job = jobs.get(id);
      if (job !== undefined && isWaiting(job)) void jobs.refuseWait(id, [...lacks].join("; at another coordinator: "));
    }
  }
}

/** Its client waits for the answer, and no Island has it. Answers of conversations outlive a crash, so that not all are client-bound. */
function isWaiting({ jobClass, state }: ActiveJob): boolean {
  return jobClass === "chat" && state === "pending";
}
