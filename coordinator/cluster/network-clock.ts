import { sleepOn, type Clock, type Timer } from "../../shared/clock.ts";

/** What the way to the other clock and back may hide: a smaller difference is none. */
const TOLERANCE_MS = 50;

/**
 * The clock of the network: that of the database. Times of one coordinator (deadlines of jobs, ends of sessions) are read by others, whose
 * machines' clocks may be minutes apart. Durations are measured on this machine.
 */
export class NetworkClock implements Clock {
  readonly #machine: Clock;
  /** The network's time when this machine's monotonic clock was 0; null before the first {@link set}. */
  #zeroMs: number | null = null;

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  /** That of the machine, until it is set. */
  now(): number {
    return this.#zeroMs === null ? this.#machine.now() : Math.round(this.#zeroMs + this.#machine.monotonicMs());
  }

  monotonicMs(): number {
    return this.#machine.monotonicMs();
  }

  schedule(delayMs: number, task: () => void): Timer {
    return this.#machine.schedule(delayMs, task);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this.#machine, ms, signal);
  }

  /** Learns the time. `ask` reads the other clock; half of the time that this takes is counted as the way back. */
  async set(ask: () => Promise<number>): Promise<void> {
    const beganMs = this.#machine.monotonicMs();
    const networkMs = await ask();
    const endedMs = this.#machine.monotonicMs();
    const zeroMs = networkMs + (endedMs - beganMs) / 2 - endedMs;
    const known = this.#zeroMs ?? -Infinity;
    const isUnsure = endedMs - beganMs > TOLERANCE_MS && known !== -Infinity;
    if (!isUnsure && Math.abs(zeroMs - known) > TOLERANCE_MS) this.#zeroMs = zeroMs;
  }
}
