import type { Clock, Timer } from "../../../shared/clock.ts";

export interface Watched {
  check(nowMs: number): void;
}

/** Number of parts of an interval, which spread the work for all sessions over event loop ticks. */
const PARTS = 100;
/** Minimum length of a part, for the short intervals of tests. */
const MIN_PART_MS = 10;

/**
 * Visits each session once per interval; sessions that came together share a tick. One timer serves all sessions.
 * Otherwise 10,000 idle Islands would need 20,000 timers with closures, half of them reset with every heartbeat.
 */
export type SessionWatch = ReturnType<typeof sessionWatch>;

export function sessionWatch(clock: Pick<Clock, "monotonicMs" | "schedule">, intervalMs: number) {
  const partMs = Math.max(intervalMs / PARTS, MIN_PART_MS);
  const count = Math.max(1, Math.floor(intervalMs / partMs));
  const parts = Array.from({ length: count }, () => new Set<Watched>());
  let size = 0;
  /** Last processed part, counted from the start of the clock. */
  let last = 0;
  /** Part for which the timer is set. */
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
    // A timer may fire slightly early.
    const now = Math.max(Math.floor(nowMs / partMs), next);
    const first = Math.max(last + 1, now - count + 1);
    last = now;
    for (let number = first; number <= now; number += 1) {
      for (const session of partOf(number)) session.check(nowMs);
    }
    timer = size > 0 ? schedule() : null;
  };

  return {
    /** Adds a session, which is first visited one interval from now. Returns its part, for `remove`. */
    add(session: Watched): number {
      const now = Math.floor(clock.monotonicMs() / partMs);
      // No part before the part of the timer is due.
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
