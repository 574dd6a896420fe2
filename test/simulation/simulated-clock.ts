import { sleepOn, type Clock, type Timer } from "../../shared/clock.ts";

interface Pending {
  readonly atMs: number;
  readonly task: () => void;
}

/** 2026-01-01T00:00:00Z. */
const START_MS = 1_767_225_600_000;

/** The time of a simulated world. It stands still until a step moves it, and a wall clock can be set as NTP does. */
export class SimulatedTime {
  elapsedMs = 0;
  jumpMs = 0;

  /** Whole milliseconds, as of the system's wall clock. */
  get nowMs(): number {
    return START_MS + Math.floor(this.elapsedMs) + this.jumpMs;
  }
}

/** The clock of one life of the coordinator: its timers end with it. */
export class SimulatedClock implements Clock {
  readonly #time: SimulatedTime;
  /** In the order of the calls. */
  readonly #pending = new Set<Pending>();
  #isStopped = false;

  constructor(time: SimulatedTime) {
    this.#time = time;
  }

  now(): number {
    return this.#time.nowMs;
  }

  monotonicMs(): number {
    return this.#time.elapsedMs;
  }

  get pendingTimers(): number {
    return this.#pending.size;
  }

  schedule(delayMs: number, task: () => void): Timer {
    const entry: Pending = { atMs: this.#time.elapsedMs + Math.max(0, delayMs), task };
    if (!this.#isStopped) this.#pending.add(entry);
    return { cancel: () => void this.#pending.delete(entry) };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Runs the timer that is due first, if that is by `untilMs` on the clock that never jumps; time moves on to it. */
  fireNext(untilMs: number): boolean {
    let next: Pending | undefined;
    for (const entry of this.#pending) {
      if (entry.atMs <= untilMs && (next === undefined || entry.atMs < next.atMs)) next = entry;
    }
    if (next === undefined) return false;
    this.#pending.delete(next);
    this.#time.elapsedMs = Math.max(this.#time.elapsedMs, next.atMs);
    next.task();
    return true;
  }

  /** The process is gone. */
  stop(): void {
    this.#isStopped = true;
    this.#pending.clear();
  }
}
