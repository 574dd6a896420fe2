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

/**
 * Each unfinished job has two limits: a fixed one (its wait until it starts, then its run) and a moving one. A sign of life moves
 * nothing here: a job that is looked at too early is looked at again when what is left has passed. One timer serves all jobs, because
 * 100,000 of the platform's timers would double the time that a restart takes for them.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #leftMs: (jobId: string) => number;
  readonly #onSilence: (jobId: string) => void;
  readonly #deadlines = new Map<string, Deadline>();
  readonly #order = new IndexedHeap<Deadline>(isDueFirst);
  #wake: { readonly atMs: number; readonly timer: Timer } | null = null;
  #isClosed = false;

  /**
   * @param leftMs what is left of the moving limit; Infinity while no such limit applies.
   * @param onSilence the moving limit passed: must put it off, or set or clear the job's deadline.
   */
  constructor(clock: Clock, leftMs: (jobId: string) => number, onSilence: (jobId: string) => void) {
    this.#clock = clock;
    this.#leftMs = leftMs;
    this.#onSilence = onSilence;
  }

  /** Calls `onPassed` at `atMs` (ms since the epoch), in place of what was set for the job before. Does nothing after `close`. */
  set(jobId: string, atMs: number, onPassed: () => void): void {
    if (this.#isClosed) return;
    this.#remove(jobId);
    const endsAtMs = this.#clock.monotonicMs() + atMs - this.#clock.now();
    const deadline = { heapIndex: -1, jobId, endsAtMs, onPassed, dueAtMs: this.#dueAtMs(jobId, endsAtMs) };
    this.#deadlines.set(jobId, deadline);
    this.#order.push(deadline);
    this.#setWake();
  }

  /** The job's moving limit is another one now. */
  limitChanged(jobId: string): void {
    const deadline = this.#deadlines.get(jobId);
    if (deadline === undefined) return;
    deadline.dueAtMs = this.#dueAtMs(jobId, deadline.endsAtMs);
    this.#order.update(deadline);
    this.#setWake();
  }

  clear(jobId: string): void {
    this.#remove(jobId);
    this.#setWake();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake?.timer.cancel();
  }

  #remove(jobId: string): void {
    const deadline = this.#deadlines.get(jobId);
    if (deadline === undefined) return;
    this.#order.remove(deadline);
    this.#deadlines.delete(jobId);
  }

  #dueAtMs(jobId: string, endsAtMs: number): number {
    return Math.min(endsAtMs, this.#clock.monotonicMs() + this.#leftMs(jobId));
  }

  #setWake(): void {
    const atMs = this.#order.peek()?.dueAtMs ?? null;
    if (atMs === (this.#wake?.atMs ?? null) || this.#isClosed) return;
    this.#wake?.timer.cancel();
    this.#wake = null;
    if (atMs === null) return;
    const timer = this.#clock.schedule(atMs - this.#clock.monotonicMs(), () => this.#fire());
    this.#wake = { atMs, timer };
  }

  #fire(): void {
    this.#wake = null;
    const nowMs = this.#clock.monotonicMs();
    for (let first = this.#order.peek(); first !== undefined && first.dueAtMs <= nowMs; first = this.#order.peek()) {
      this.#pass(first, nowMs);
    }
    this.#setWake();
  }

  #pass(deadline: Deadline, nowMs: number): void {
    const { jobId, endsAtMs, onPassed } = deadline;
    if (endsAtMs <= nowMs) {
      this.#remove(jobId);
      return onPassed();
    }
    if (this.#leftMs(jobId) <= 0) this.#onSilence(jobId);
    if (this.#deadlines.get(jobId) === deadline) this.limitChanged(jobId);
  }
}
