import type { Clock, Timer } from "../../../shared/clock.ts";

/**
 * Calls `onStall` once when the other side has been silent for `stallMs` during a wait. Time between waits (a slow
 * disk) does not count. The owner calls `stop`.
 */
export class StallWatchdog {
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #onStall: () => void;
  #waitingSinceMs: number | null = null;
  #timer: Timer | null = null;

  constructor(clock: Clock, stallMs: number, onStall: () => void) {
    this.#clock = clock;
    this.#stallMs = stallMs;
    this.#onStall = onStall;
  }

  /** Starts a wait for a byte. */
  wait(): void {
    this.#waitingSinceMs = this.#clock.monotonicMs();
    // One timer serves many chunks. When it fires it checks the time of the last one.
    this.#timer ??= this.#clock.schedule(this.#stallMs, () => this.#check());
  }

  /** Ends the wait, because a byte has arrived or the caller is busy. */
  pause(): void {
    this.#waitingSinceMs = null;
  }

  stop(): void {
    this.pause();
    this.#timer?.cancel();
    this.#timer = null;
  }

  #check(): void {
    this.#timer = null;
    if (this.#waitingSinceMs === null) return;
    const leftMs = this.#waitingSinceMs + this.#stallMs - this.#clock.monotonicMs();
    // Timers may fire slightly early on the monotonic scale.
    if (leftMs < 1) this.#onStall();
    else this.#timer = this.#clock.schedule(leftMs, () => this.#check());
  }
}
