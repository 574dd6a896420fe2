import type { Clock, Timer } from "../../../shared/clock.ts";
import { KIB, MIB } from "../../../shared/format-bytes.ts";
import type { MutableJob } from "../active-job.ts";

/** What it needs to know of a job. */
export type WritingJob = Pick<MutableJob, "unstored" | "appendsInFlight" | "firstOutputMs">;

/** The longest delay, as a multiple of the shortest. */
const MAX_GROWTH = 10;
/** A stream is stored as often as it grows by this part of its age. */
const PART_OF_AGE = 0.1;

/** With more gathered output than this, of all jobs together, everything is stored at once. */
const MAX_GATHERED_BYTES = 256 * KIB;
/**
 * With more output than this, the next write of a job does not wait for the one under way. With a frame more, and each of its characters
 * escaped, it is far from the 256 MB that PostgreSQL takes as one JSON value.
 */
const MAX_WRITE_BYTES = 8 * MIB;

/**
 * Decides when the output that readers have already is stored, so that a token costs no commit. A stream is stored 100 ms after its
 * first token, then whenever it has grown by a tenth of its age, and every second at last; streams that are due at about the same time
 * share a commit. A job has one write of output under way, unless much is gathered: while storage is slow or away its output is gathered
 * here, within the budgets of output. The Island still has what a crash loses. Source: docs/internals/reliability.md, "What a crash loses".
 * @param delayMs shortest time for which output is gathered; 0 stores it at once.
 * @param store takes what was gathered of a job and stores it.
 */
export function writeBehind<Job extends WritingJob>(clock: Clock, delayMs: number, store: (job: Job) => void) {
  /** When the jobs with something to store are due, by the monotonic clock. */
  const due = new Map<Job, number>();
  let gatheredBytes = 0;
  /** Of {@link gatheredBytes}: what was left when all was stored at once, as writes were under way. */
  let leftBytes = 0;
  let timer: Timer | null = null;

  function dueOf(job: Job): number {
    const nowMs = clock.monotonicMs();
    const grownMs = (nowMs - job.firstOutputMs) * PART_OF_AGE;
    return nowMs + Math.min(Math.max(delayMs, grownMs), delayMs * MAX_GROWTH);
  }

  function tick(): void {
    timer = null;
    // What is due before the next tick shares this commit.
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
    /** The job has something to store. `bytes`: what was added now. */
    add(job: Job, bytes: number): void {
      if (delayMs === 0 && job.appendsInFlight === 0) return store(job);
      gatheredBytes += bytes;
      if (!due.has(job)) due.set(job, dueOf(job));
      if (job.unstored.bytes > MAX_WRITE_BYTES) return store(job);
      if (gatheredBytes - leftBytes > MAX_GATHERED_BYTES) return storeAll();
      if (delayMs > 0) timer ??= clock.schedule(delayMs, tick);
      return undefined;
    },

    /** A write of output of the job is done. What is overdue follows. */
    noteStored(job: Job): void {
      const dueMs = due.get(job);
      if (dueMs !== undefined && job.appendsInFlight === 0 && dueMs <= clock.monotonicMs()) store(job);
    },

    /** What was gathered of the job is stored otherwise. Called before it is taken. */
    remove(job: Job): void {
      if (!due.delete(job)) return;
      gatheredBytes -= job.unstored.bytes;
      leftBytes = Math.min(leftBytes, gatheredBytes);
    },

    /** Stores everything, and stops the timer. */
    close(): void {
      timer?.cancel();
      for (const job of due.keys()) store(job);
    },
  };
}
