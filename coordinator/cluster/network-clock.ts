import { sleepOn, type Clock } from "../../shared/clock.ts";

/** Maximum error that a round trip may cause. Smaller differences between the clocks are ignored. */
const TOLERANCE_MS = 50;

/**
 * Returns a clock with the time of the database, because machine clocks may differ. This machine measures durations.
 */
export function networkClock(machine: Clock) {
  /** Network time when this machine's monotonic clock was 0; null until it is set, while machine time is used. */
  let zeroMs: number | null = null;
  return {
    now: () => (zeroMs === null ? machine.now() : Math.round(zeroMs + machine.monotonicMs())),
    monotonicMs: () => machine.monotonicMs(),
    schedule: (delayMs, task) => machine.schedule(delayMs, task),
    sleep: (ms, signal) => sleepOn(machine, ms, signal),
    /** Sets the time. `ask` reads the database clock; half of its round trip counts as the return path. */
    async set(ask: () => Promise<number>): Promise<void> {
      const beganMs = machine.monotonicMs();
      const networkMs = await ask();
      const endedMs = machine.monotonicMs();
      const askedZeroMs = networkMs + (endedMs - beganMs) / 2 - endedMs;
      const isInexact = endedMs - beganMs > TOLERANCE_MS && zeroMs !== null;
      if (!isInexact && Math.abs(askedZeroMs - (zeroMs ?? -Infinity)) > TOLERANCE_MS) zeroMs = askedZeroMs;
    },
  } satisfies Clock & { set: unknown };
}
