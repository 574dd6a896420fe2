import type { Clock } from "../../../shared/clock.ts";
import { openAlarm } from "../../scheduler/alarm.ts";
import { IndexedHeap, type HeapItem } from "../../scheduler/indexed-heap.ts";

interface Deadline extends HeapItem {
  readonly jobId: string;
  /** Time of the fixed limit, by the monotonic clock like `dueAtMs`. */
  readonly endsAtMs: number;
  readonly onPassed: () => void;
  /** Time of the next check: the earlier of the fixed and the moving limit at the last check. */
  dueAtMs: number;
}

function hasLowerId(a: Deadline, b: Deadline): boolean {
  return a.jobId < b.jobId;
}

export type Deadlines = ReturnType<typeof openDeadlines>;

/**
 * Manages two limits for each unfinished job: a fixed limit (its wait, then its run) and a moving limit. Activity
 * reschedules nothing: a job that is checked too early is checked again after the remaining time. One timer serves all
 * jobs, because 100,000 platform timers would double the time of a restart.
 * @param leftMs Remaining time of the moving limit; Infinity while it does not apply.
 * @param onSilence Called when the moving limit has passed. Must postpone that limit, or set or clear the job's
 * deadline.
 */
export function openDeadlines(clock: Clock, leftMs: (jobId: string) => number, onSilence: (jobId: string) => void) {
  const deadlines = new Map<string, Deadline>();
  const order = new IndexedHeap<Deadline>(hasLowerId);
  const alarm = openAlarm(clock, () => order.peek()?.dueAtMs ?? null, passDue);

  /** Reschedules the job after its moving limit changed. */
  function limitChanged(jobId: string): void {
    const deadline = deadlines.get(jobId);
    if (deadline === undefined) return;
    deadline.dueAtMs = dueAtMs(jobId, deadline.endsAtMs);
    order.update(deadline, deadline.dueAtMs);
    alarm.set();
  }

  function remove(jobId: string): void {
    const deadline = deadlines.get(jobId);
    if (deadline === undefined) return;
    order.remove(deadline);
    deadlines.delete(jobId);
  }

  function dueAtMs(jobId: string, endsAtMs: number): number {
    return Math.min(endsAtMs, clock.monotonicMs() + leftMs(jobId));
  }

  function passDue(): void {
    const nowMs = clock.monotonicMs();
    for (let first = order.peek(); first !== undefined && first.dueAtMs <= nowMs; first = order.peek()) {
      pass(first, nowMs);
    }
  }

  function pass(deadline: Deadline, nowMs: number): void {
    const { jobId, endsAtMs, onPassed } = deadline;
    if (endsAtMs <= nowMs) {
      remove(jobId);
      return onPassed();
    }
    if (leftMs(jobId) <= 0) onSilence(jobId);
    if (deadlines.get(jobId) === deadline) limitChanged(jobId);
  }

  return {
    limitChanged,

    /** Calls `onPassed` at `atMs` (ms since the epoch), instead of at the job's previous deadline. */
    set(jobId: string, atMs: number, onPassed: () => void): void {
      remove(jobId);
      const endsAtMs = clock.monotonicMs() + atMs - clock.now();
      const deadline = { heapIndex: -1, jobId, endsAtMs, onPassed, dueAtMs: dueAtMs(jobId, endsAtMs) };
      deadlines.set(jobId, deadline);
      order.push(deadline, deadline.dueAtMs);
      alarm.set();
    },

    clear(jobId: string): void {
      remove(jobId);
      alarm.set();
    },

    close: alarm.close,
  };
}
