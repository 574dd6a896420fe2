import type { Clock, Timer } from "../../../shared/clock.ts";

/** What is to be done once in each heartbeat interval. */
export interface Watched {
  look(nowMs: number): void;
}

/** Parts of an interval: so many turns of the event loop share the work for all sessions. */
const PARTS = 100;
/** Shortest part, for the short intervals of tests. */
const MIN_PART_MS = 10;

/**
 * Looks at each session once in every interval, those that came together in the same turn. One timer serves them all: 10,000 idle Islands
 * would else have 20,000, each with its closures, and set half of them anew with every heartbeat.
 */
export class SessionWatch {
  readonly #clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly #partMs: number;
  readonly #parts: readonly Set<Watched>[];
  #size = 0;
  /** All parts up to this one are done, counted from the start of the clock. */
  #last = 0;
  /** The part that the timer is for. */
  #next = 0;
  #timer: Timer | null = null;

  constructor(clock: Pick<Clock, "monotonicMs" | "schedule">, intervalMs: number) {
    this.#clock = clock;
    this.#partMs = Math.max(intervalMs / PARTS, MIN_PART_MS);
    const count = Math.max(1, Math.floor(intervalMs / this.#partMs));
    this.#parts = Array.from({ length: count }, () => new Set<Watched>());
  }

  /** Looks at the session an interval from now for the first time. Returns its part, for {@link remove}. */
  add(session: Watched): number {
    const now = Math.floor(this.#clock.monotonicMs() / this.#partMs);
    // Nothing is due before the timer's part.
    if (this.#size === 0 || now < this.#next) this.#last = now;
    const part = now % this.#parts.length;
    this.#partOf(part).add(session);
    this.#size += 1;
    this.#timer ??= this.#schedule();
    return part;
  }

  remove(session: Watched, part: number): void {
    if (!this.#partOf(part).delete(session)) return;
    this.#size -= 1;
    if (this.#size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #partOf(number: number): Set<Watched> {
    return this.#parts[number % this.#parts.length] as Set<Watched>;
  }

  #schedule(): Timer {
    this.#next = this.#last + 1;
    while (this.#partOf(this.#next).size === 0) this.#next += 1;
    return this.#clock.schedule(this.#next * this.#partMs - this.#clock.monotonicMs(), () => this.#pass());
  }

  #pass(): void {
    const nowMs = this.#clock.monotonicMs();
    // A timer may come a little early.
    const now = Math.max(Math.floor(nowMs / this.#partMs), this.#next);
    const first = Math.max(this.#last + 1, now - this.#parts.length + 1);
    this.#last = now;
    for (let number = first; number <= now; number += 1) {
      for (const session of this.#partOf(number)) session.look(nowMs);
    }
    this.#timer = this.#size > 0 ? this.#schedule() : null;
  }
}
