import { once, type EventEmitter } from "node:events";
import { systemClock } from "../../shared/clock.ts";
import { machineMs } from "../load/frames.ts";

/** Pause between the end of a job and the next job, so that the queue is idle. */
const PAUSE_MS = 5;

export interface IdleQueue {
  /** Adds a job. */
  readonly add: () => Promise<unknown>;
  /** Returns the start of the last job. */
  readonly startedMs: () => number;
  /** Emits `event` when a job has ended. */
  readonly events: EventEmitter;
  readonly event: string;
}

/** Adds one job after the other. @returns milliseconds from the call to the start of each. */
export async function measureIdleStarts(
  count: number,
  { add, startedMs, events, event }: IdleQueue,
): Promise<number[]> {
  const tookMs: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const ended = once(events, event);
    const addedMs = machineMs();
    await add();
    await ended;
    tookMs.push(startedMs() - addedMs);
    await systemClock.sleep(PAUSE_MS);
  }
  return tookMs;
}
