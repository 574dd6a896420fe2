import type { Clock, Timer } from "../../shared/clock.ts";

/** One timer for each unfinished job: its wait limit until it starts, then its run limit. */
export class Deadlines {
  readonly #clock: Pick<Clock, "now" | "schedule">;
  readonly #timers = new Map<string, Timer>();
  #isClosed = false;

  constructor(clock: Pick<Clock, "now" | "schedule">) {
    this.#clock = clock;
  }

  /** Calls `onPassed` at `atMs` (ms since the epoch), in place of what was set for the job before. Does nothing after `close`. */
  set(jobId: string, atMs: number, onPassed: () => void): void {
    if (this.#isClosed) return;
    this.#timers.get(jobId)?.cancel();
    this.#timers.set(jobId, this.#clock.schedule(atMs - this.#clock.now(), onPassed));
  }

  clear(jobId: string): void {
    this.#timers.get(jobId)?.cancel();
    this.#timers.delete(jobId);
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }
}
