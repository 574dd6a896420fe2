import type { Clock, Timer } from "../../shared/clock.ts";

/** The limits that every sign of life of a job puts off. */
export interface MovingLimits {
  /** Infinity while no such limit applies. */
  leftMs(jobId: string): number;
  /** Must put the limit off, or set or clear the job's deadline. */
  onPassed(jobId: string): void;
}

interface Deadline {
  /** By the clock that never jumps. */
  readonly endsAtMs: number;
  readonly onPassed: () => void;
  timer: Timer;
}

/**
 * One timer for each unfinished job, which fires at the earlier of two limits: a fixed one (its wait until it starts, then its run) and
 * a moving one. A sign of life sets no timer: when the timer fires too early, it is set again for what is left.
 */
export class Deadlines {
  readonly #clock: Pick<Clock, "now" | "monotonicMs" | "schedule">;
  readonly #moving: MovingLimits;
  readonly #deadlines = new Map<string, Deadline>();
  #isClosed = false;

  constructor(clock: Pick<Clock, "now" | "monotonicMs" | "schedule">, moving: MovingLimits) {
    this.#clock = clock;
    this.#moving = moving;
  }

  /** Calls `onPassed` at `atMs` (ms since the epoch), in place of what was set for the job before. Does nothing after `close`. */
  set(jobId: string, atMs: number, onPassed: () => void): void {
    if (this.#isClosed) return;
    this.clear(jobId);
    const endsAtMs = this.#clock.monotonicMs() + atMs - this.#clock.now();
    this.#deadlines.set(jobId, { endsAtMs, onPassed, timer: this.#schedule(jobId, endsAtMs) });
  }

  /** The job's moving limit is another one now. */
  limitChanged(jobId: string): void {
    const deadline = this.#deadlines.get(jobId);
    if (deadline === undefined) return;
    deadline.timer.cancel();
    deadline.timer = this.#schedule(jobId, deadline.endsAtMs);
  }

  clear(jobId: string): void {
    this.#deadlines.get(jobId)?.timer.cancel();
    this.#deadlines.delete(jobId);
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#deadlines.values()) timer.cancel();
    this.#deadlines.clear();
  }

  #schedule(jobId: string, endsAtMs: number): Timer {
    const leftMs = Math.min(endsAtMs - this.#clock.monotonicMs(), this.#moving.leftMs(jobId));
    return this.#clock.schedule(leftMs, () => this.#fire(jobId));
  }

  #fire(jobId: string): void {
    const deadline = this.#deadlines.get(jobId);
    if (deadline === undefined) return;
    const { endsAtMs, onPassed } = deadline;
    if (endsAtMs <= this.#clock.monotonicMs()) {
      this.#deadlines.delete(jobId);
      return onPassed();
    }
    if (this.#moving.leftMs(jobId) <= 0) this.#moving.onPassed(jobId);
    if (this.#deadlines.get(jobId) === deadline) this.limitChanged(jobId);
  }
}
