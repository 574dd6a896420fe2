import type { Env } from "../env.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Outlook } from "../scheduler/shared-work.ts";
import { openAlarm } from "../scheduler/alarm.ts";
import type { WorkKind } from "../scheduler/events.ts";
import { workKeyOf } from "../scheduler/slot-offer.ts";

/**
 * Time before a job is refused, and interval of the checks. It is long enough for an Island that changes its session or
 * settings. A stream's headers are sent later than that, so that the refusal can still set the HTTP status.
 */
export const REFUSE_AFTER_MS = 2_500;

/**
 * Refuses jobs of waiting clients when every Island of the network permanently lacks something. Jobs keep waiting while
 * Islands may arrive: if none is online, if a fitting one left recently, or if a coordinator has just started.
 * @param outlooksElsewhere Returns the outlook of each other coordinator; null for one that does not respond.
 */
export function refuseUnrunnableJobs(
  { config, clock }: Env<"islandGraceMs" | "restartGraceMs">,
  jobs: JobRegistry,
  { shared }: Scheduler,
  outlooksElsewhere: (kind: WorkKind) => Promise<readonly (Outlook | null)[]>,
) {
  const startedMs = clock.monotonicMs();
  /** Time of the next check of each watched job, by id, the earliest first. */
  const dueAtMs = new Map<string, number>();
  const alarm = openAlarm(clock, () => dueAtMs.values().next().value ?? null, checkDue);

  jobs.subscribe((event) => {
    if (event.type !== "job_waiting" || !isWaiting(event.job) || dueAtMs.has(event.job.id)) return;
    dueAtMs.set(event.job.id, clock.monotonicMs() + REFUSE_AFTER_MS);
    alarm.set();
  });

  /** Returns whether Islands of this coordinator may run jobs of that kind, now or later. */
  function outlookFor(kind: WorkKind): Outlook {
    const nowMs = clock.monotonicMs();
    if (nowMs - startedMs < config.restartGraceMs) return { is: "possible" };
    return shared.outlookFor(kind, nowMs - config.islandGraceMs);
  }

  function checkDue(): void {
    const nowMs = clock.monotonicMs();
    const kinds = new Map<string, { readonly kind: WorkKind; readonly jobIds: string[] }>();
    for (const [jobId, dueMs] of dueAtMs) {
      if (dueMs > nowMs) break;
      dueAtMs.delete(jobId);
      const kind = shared.kindOf(jobId);
      const job = jobs.get(jobId);
      if (job === undefined || !isWaiting(job)) continue;
      dueAtMs.set(jobId, nowMs + REFUSE_AFTER_MS);
      if (kind === undefined) continue;
      const same = kinds.get(workKeyOf(kind)) ?? { kind, jobIds: [] };
      kinds.set(workKeyOf(kind), same);
      same.jobIds.push(jobId);
    }
    for (const { kind, jobIds } of kinds.values()) void refuseIfLacking(kind, jobIds);
  }

  async function refuseIfLacking(kind: WorkKind, jobIds: readonly string[]): Promise<void> {
    if (outlookFor(kind).is === "possible") return;
    const elsewhere = await outlooksElsewhere(kind);
    const all = [outlookFor(kind), ...elsewhere];
    // A coordinator that does not respond may have an Island that fits.
    if (all.some((outlook) => outlook === null || outlook.is === "possible")) return;
    const lacks = new Set(all.flatMap((outlook) => (outlook?.is === "lacking" ? [outlook.message] : [])));
    if (lacks.size === 0) return;
    for (const id of jobIds) {
      const job = jobs.get(id);
      if (job !== undefined && isWaiting(job)) void jobs.refuseWait(id, [...lacks].join("; at another coordinator: "));
    }
  }

  return {
    outlookFor,
    close: alarm.close,
  };
}

/** Returns true if a client waits and no Island has the job. Conversation answers wait without being client-bound. */
function isWaiting({ jobClass, state }: ActiveJob): boolean {
  return jobClass === "chat" && state === "pending";
}
