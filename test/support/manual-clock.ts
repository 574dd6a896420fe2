import { sleepOn, type Clock, type Timer } from "../../shared/clock.ts";

interface Pending {
  readonly atMs: number;
  readonly order: number;
  readonly task: () => void;
}

/** Start time, 2026-01-01T00:00:00Z, so that times in failures are easy to read. */
const START_MS = 1_767_225_600_000;

/** A clock that advances only when a test moves it. */
export class ManualClock implements Clock {
  #elapsedMs = 0;
  #jumpMs = 0;
  #order = 0;
  readonly #pending = new Set<Pending>();

  now(): number {
    return START_MS + this.#elapsedMs + this.#jumpMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  /** Number of scheduled calls that have not run. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  schedule(delayMs: number, task: () => void): Timer {
    const entry: Pending = { atMs: this.#elapsedMs + Math.max(0, delayMs), order: this.#order++, task };
    this.#pending.add(entry);
    return { cancel: () => void this.#pending.delete(entry) };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Advances the time by `ms` and runs due calls in order, each at its time. */
  advance(ms: number): void {
    const untilMs = this.#elapsedMs + ms;
    for (let next = this.#nextDue(untilMs); next !== undefined; next = this.#nextDue(untilMs)) {
      this.#pending.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs);
      next.task();
    }
    this.#elapsedMs = untilMs;
  }

  /** Moves the wall clock forward or back, like NTP. No call becomes due. */
  jump(ms: number): void {
    this.#jumpMs += ms;
  }

  #nextDue(untilMs: number): Pending | undefined {
    let next: Pending | undefined;
    for (const entry of this.#pending) {
      if (entry.atMs > untilMs) continue;
      if (next === undefined || entry.atMs < next.atMs || (entry.atMs === next.atMs && entry.order < next.order)) {
        next = entry;
      }
    }
    return next;
  }
}
