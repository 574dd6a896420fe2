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
export type SessionWatch = ReturnType<typeof sessionWatch>;

export function sessionWatch(clock: Pick<Clock, "monotonicMs" | "schedule">, intervalMs: number) {
  const partMs = Math.max(intervalMs / PARTS, MIN_PART_MS);
  const count = Math.max(1, Math.floor(intervalMs / partMs));
  const parts = Array.from({ length: count }, () => new Set<Watched>());
  let size = 0;
  /** All parts up to this one are done, counted from the start of the clock. */
  let last = 0;
  /** The part that the timer is for. */
  let next = 0;
  let timer: Timer | null = null;

  const partOf = (number: number) => parts[number % count] as Set<Watched>;

  const schedule = (): Timer => {
    next = last + 1;
    while (partOf(next).size === 0) next += 1;
    return clock.schedule(next * partMs - clock.monotonicMs(), pass);
  };

  const pass = (): void => {
    const nowMs = clock.monotonicMs();
    // A timer may come a little early.
    const now = Math.max(Math.floor(nowMs / partMs), next);
    const first = Math.max(last + 1, now - count + 1);
    last = now;
    for (let number = first; number <= now; number += 1) {
      for (const session of partOf(number)) session.look(nowMs);
    }
    timer = size > 0 ? schedule() : null;
  };

  return {
    /** Looks at the session an interval from now for the first time. Returns its part, for `remove`. */
    add(session: Watched): number {
      const now = Math.floor(clock.monotonicMs() / partMs);
      // Nothing is due before the timer's part.
      if (size === 0 || now < next) last = now;
      const part = now % count;
      partOf(part).add(session);
      size += 1;
      timer ??= schedule();
      return part;
    },

    remove(session: Watched, part: number): void {
      if (!partOf(part).delete(session)) return;
      size -= 1;
      if (size > 0) return;
      timer?.cancel();
      timer = null;
    },
  };
}
