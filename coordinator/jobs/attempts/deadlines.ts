import type { Clock, Timer } from "../../../shared/clock.ts";
import { IndexedHeap, type HeapItem } from "../../scheduler/indexed-heap.ts";

interface Deadline extends HeapItem {
  readonly jobId: string;
  /** By the clock that never jumps, as `dueAtMs`. */
  readonly endsAtMs: number;
  readonly onPassed: () => void;
  /** When its limits are to be looked at: the earlier of both, as they were last time. */
  dueAtMs: number;
}

function isDueFirst(a: Deadline, b: Deadline): boolean {
  return a.dueAtMs === b.dueAtMs ? a.jobId < b.jobId : a.dueAtMs < b.dueAtMs;
}

export type Deadlines = ReturnType<typeof openDeadlines>;

/**
 * Each unfinished job has two limits: a fixed one (its wait until it starts, then its run) and a moving one. A sign of life moves
 * nothing here: a job that is looked at too early is looked at again when what is left has passed. One timer serves all jobs, because
 * 100,000 of the platform's timers would double the time that a restart takes for them.
 * @param leftMs what is left of the moving limit; Infinity while no such limit applies.
 * @param onSilence the moving limit passed: must put it off, or set or clear the job's deadline.
 */
export function openDeadlines(clock: Clock, leftMs: (jobId: string) => number, onSilence: (jobId: string) => void) {
  const deadlines = new Map<string, Deadline>();
  const order = new IndexedHeap<Deadline>(isDueFirst);
  let wake: { readonly atMs: number; readonly timer: Timer } | null = null;
  let isClosed = false;

  /** The job's moving limit is another one now. */
  function limitChanged(jobId: string): void {
    const deadline = deadlines.get(jobId);
    if (deadline === undefined) return;
    deadline.dueAtMs = dueAtMs(jobId, deadline.endsAtMs);
    order.update(deadline);
    setWake();
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

  function setWake(): void {
    const atMs = order.peek()?.dueAtMs ?? null;
    if (atMs === (wake?.atMs ?? null) || isClosed) return;
    wake?.timer.cancel();
    wake = null;
    if (atMs === null) return;
    const timer = clock.schedule(atMs - clock.monotonicMs(), fire);
    wake = { atMs, timer };
  }

  function fire(): void {
    wake = null;
    const nowMs = clock.monotonicMs();
    for (let first = order.peek(); first !== undefined && first.dueAtMs <= nowMs; first = order.peek()) {
      pass(first, nowMs);
    }
    setWake();
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

    /** Calls `onPassed` at `atMs` (ms since the epoch), in place of what was set for the job before. Does nothing after `close`. */
    set(jobId: string, atMs: number, onPassed: () => void): void {
      if (isClosed) return;
      remove(jobId);
      const endsAtMs = clock.monotonicMs() + atMs - clock.now();
      const deadline = { heapIndex: -1, jobId, endsAtMs, onPassed, dueAtMs: dueAtMs(jobId, endsAtMs) };
      deadlines.set(jobId, deadline);
      order.push(deadline);
      setWake();
    },

    clear(jobId: string): void {
      remove(jobId);
      setWake();
    },

    close(): void {
      isClosed = true;
      wake?.timer.cancel();
    },
  };
}
