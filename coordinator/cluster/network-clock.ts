import { sleepOn, type Clock } from "../../shared/clock.ts";

/** What the way to the other clock and back may hide: a smaller difference is none. */
const TOLERANCE_MS = 50;

/**
 * The clock of the network: that of the database. Times of one coordinator (deadlines of jobs, ends of sessions) are read by others, whose
 * machines' clocks may be minutes apart. Durations are measured on this machine.
 */
export function networkClock(machine: Clock) {
  /** The network's time when this machine's monotonic clock was 0; null before it is set: then the time is the machine's. */
  let zeroMs: number | null = null;
  return {
    now: () => (zeroMs === null ? machine.now() : Math.round(zeroMs + machine.monotonicMs())),
    monotonicMs: () => machine.monotonicMs(),
    schedule: (delayMs, task) => machine.schedule(delayMs, task),
    sleep: (ms, signal) => sleepOn(machine, ms, signal),
    /** Learns the time. `ask` reads the other clock; half of the time that this takes is counted as the way back. */
    async set(ask: () => Promise<number>): Promise<void> {
      const beganMs = machine.monotonicMs();
      const networkMs = await ask();
      const endedMs = machine.monotonicMs();
      const askedZeroMs = networkMs + (endedMs - beganMs) / 2 - endedMs;
      const isUnsure = endedMs - beganMs > TOLERANCE_MS && zeroMs !== null;
      if (!isUnsure && Math.abs(askedZeroMs - (zeroMs ?? -Infinity)) > TOLERANCE_MS) zeroMs = askedZeroMs;
    },
  } satisfies Clock & { set: unknown };
}
