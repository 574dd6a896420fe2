import { sleepOn, type Clock, type Timer } from "../../shared/clock.ts";

interface Pending {
  readonly atMs: number;
  readonly task: () => void;
}

/** 2026-01-01T00:00:00Z. */
const START_MS = 1_767_225_600_000;

/** Time of a simulated world. Only steps advance it. The wall clock can be set, as NTP does. */
export class SimulatedTime {
  elapsedMs = 0;
  jumpMs = 0;

  /** Whole milliseconds, like the system's wall clock. */
  get nowMs(): number {
    return START_MS + Math.floor(this.elapsedMs) + this.jumpMs;
  }
}

/** Clock of one life of the coordinator. Its timers end with the life. */
export class SimulatedClock implements Clock {
  readonly #time: SimulatedTime;
  /** Timers in the order of their calls. */
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

  /** Advances to the next timer and runs it, if it is due by `untilMs` of the monotonic clock. */
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

  /** Drops all timers of the life. */
  stop(): void {
    this.#isStopped = true;
    this.#pending.clear();
  }
}
