import type { Clock, Timer } from "../../shared/clock.ts";

/** A limit that every sign of life puts off. */
export interface MovingLimit {
  /** Infinity while no such limit applies. */
  leftMs(): number;
  /** Must put the limit off, or set or clear the job's deadline. */
  onPassed(): void;
}

interface Deadline {
  /** By the clock that never jumps. */
  readonly endsAtMs: number;
  readonly onPassed: () => void;
  readonly moving: MovingLimit;
  timer: Timer;
}

/**
 * One timer for each unfinished job, which fires at the earlier of two limits: a fixed one (its wait until it starts, then its run) and
 * a moving one. A sign of life sets no timer: when the timer fires too early, it is set again for what is left.
 */
export class Deadlines {
  readonly #clock: Pick<Clock, "now" | "monotonicMs" | "schedule">;
  readonly #deadlines = new Map<string, Deadline>();
  #isClosed = false;

  constructor(clock: Pick<Clock, "now" | "monotonicMs" | "schedule">) {
    this.#clock = clock;
  }

  /** Calls `onPassed` at `atMs` (ms since the epoch), in place of what was set for the job before. Does nothing after `close`. */
  set(jobId: string, atMs: number, onPassed: () => void, moving: MovingLimit): void {
    if (this.#isClosed) return;
    this.clear(jobId);
    const endsAtMs = this.#clock.monotonicMs() + atMs - this.#clock.now();
    const deadline: Deadline = { endsAtMs, onPassed, moving, timer: this.#schedule(jobId, endsAtMs, moving) };
    this.#deadlines.set(jobId, deadline);
  }

  /** The job's moving limit is another one now. */
  limitChanged(jobId: string): void {
    const deadline = this.#deadlines.get(jobId);
    if (deadline === undefined) return;
    deadline.timer.cancel();
    deadline.timer = this.#schedule(jobId, deadline.endsAtMs, deadline.moving);
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

  #schedule(jobId: string, endsAtMs: number, moving: MovingLimit): Timer {
    const leftMs = Math.min(endsAtMs - this.#clock.monotonicMs(), moving.leftMs());
    return this.#clock.schedule(leftMs, () => this.#fire(jobId));
  }

  #fire(jobId: string): void {
    const deadline = this.#deadlines.get(jobId);
    if (deadline === undefined) return;
    const { endsAtMs, onPassed, moving } = deadline;
    if (endsAtMs <= this.#clock.monotonicMs()) {
      this.#deadlines.delete(jobId);
      return onPassed();
    }
    if (moving.leftMs() <= 0) moving.onPassed();
    if (this.#deadlines.get(jobId) === deadline) this.limitChanged(jobId);
  }
}
