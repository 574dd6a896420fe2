import type { Clock, Timer } from "../../../shared/clock.ts";
import { KIB, MIB } from "../../../shared/format-bytes.ts";
import type { MutableJob } from "../active-job.ts";

export type WritingJob = Pick<MutableJob, "unstored" | "appendsInFlight" | "firstOutputMs">;

/** The maximum delay of a write, as a multiple of the minimum delay. */
const MAX_GROWTH = 10;
/** Time between two writes of a stream, as a fraction of the stream's age. */
const INTERVAL_PER_AGE = 0.1;

/** Gathered output of all jobs above which everything is stored at once. */
const MAX_GATHERED_BYTES = 256 * KIB;
/**
 * Gathered output of a job above which its next write does not wait for the write in flight. Escaped and with one more
 * frame, the output stays far below the 256 MB that PostgreSQL accepts as one JSON value.
 */
const MAX_WRITE_BYTES = 8 * MIB;

/**
 * Delays the storage of output that readers already have, so that a token costs no commit. A stream is stored 100 ms
 * after its first token, then whenever it has grown by a tenth of its age, and at least every second. Streams that are
 * due at about the same time share a commit. A job has one write in flight, unless much output is gathered. After a
 * crash the Islands resend the lost part. See docs/internals/reliability.md, "What a crash loses".
 * @param delayMs Minimum time for which output is gathered; 0 stores it at once.
 */
export function writeBehind<Job extends WritingJob>(clock: Clock, delayMs: number, store: (job: Job) => void) {
  /** Due times by the monotonic clock. */
  const due = new Map<Job, number>();
  let gatheredBytes = 0;
  /** Part of {@link gatheredBytes} that the last `storeAll` left: writes of those jobs were in flight. */
  let leftBytes = 0;
  let timer: Timer | null = null;

  function dueOf(job: Job): number {
    const nowMs = clock.monotonicMs();
    const grownMs = (nowMs - job.firstOutputMs) * INTERVAL_PER_AGE;
    return nowMs + Math.min(Math.max(delayMs, grownMs), delayMs * MAX_GROWTH);
  }

  function tick(): void {
    timer = null;
    // Jobs that are due before the next tick share this commit.
    storeDue(clock.monotonicMs() + delayMs / 2);
    if (due.size > 0) timer = clock.schedule(delayMs, tick);
  }

  function storeAll(): void {
    storeDue(Infinity);
    leftBytes = gatheredBytes;
  }

  function storeDue(untilMs: number): void {
    for (const [job, dueMs] of due) if (dueMs <= untilMs && job.appendsInFlight === 0) store(job);
  }

  return {
    /** Schedules a write of the job's gathered changes. `bytes`: size of the output that was added now. */
    add(job: Job, bytes: number): void {
      if (delayMs === 0 && job.appendsInFlight === 0) return store(job);
      gatheredBytes += bytes;
      if (!due.has(job)) due.set(job, dueOf(job));
      if (job.unstored.bytes > MAX_WRITE_BYTES) return store(job);
      if (gatheredBytes - leftBytes > MAX_GATHERED_BYTES) return storeAll();
      if (delayMs > 0) timer ??= clock.schedule(delayMs, tick);
      return undefined;
    },

    /** Handles a finished write: stores the changes that have become due since. */
    noteStored(job: Job): void {
      const dueMs = due.get(job);
      if (dueMs !== undefined && job.appendsInFlight === 0 && dueMs <= clock.monotonicMs()) store(job);
    },

    /** Removes a job whose changes are stored by other means. Must be called before the changes are taken. */
    remove(job: Job): void {
      if (!due.delete(job)) return;
      gatheredBytes -= job.unstored.bytes;
      leftBytes = Math.min(leftBytes, gatheredBytes);
    },

    close(): void {
      timer?.cancel();
      for (const job of due.keys()) store(job);
    },
  };
}
