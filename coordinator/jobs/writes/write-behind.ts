import type { Clock, Timer } from "../../../shared/clock.ts";
import { KIB, MIB } from "../../../shared/format-bytes.ts";
import type { MutableJob } from "../active-job.ts";

/** What it needs to know of a job. */
export type WritingJob = Pick<MutableJob, "unstored" | "appendsUnderWay" | "firstOutputMs">;

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
 * here, within the budgets of output. What a crash takes is in the hands of its Island. Source: docs/reliability.md, "What a crash takes".
 */
export class WriteBehind<Job extends WritingJob> {
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #store: (job: Job) => void;
  /** When the jobs with something to store are due, by the monotonic clock. */
  readonly #dueMs = new Map<Job, number>();
  #bytes = 0;
  /** Of {@link #bytes}: what was left when all was stored at once, as writes were under way. */
  #leftBytes = 0;
  #timer: Timer | null = null;

  /**
   * @param delayMs shortest time for which output is gathered; 0 stores it at once.
   * @param store takes what was gathered of a job and stores it.
   */
  constructor(clock: Clock, delayMs: number, store: (job: Job) => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#store = store;
  }

  /** The job has something to store. `bytes`: what was added now. */
  add(job: Job, bytes: number): void {
    if (this.#delayMs === 0 && job.appendsUnderWay === 0) return this.#store(job);
    this.#bytes += bytes;
    if (!this.#dueMs.has(job)) this.#dueMs.set(job, this.#dueOf(job));
    if (job.unstored.bytes > MAX_WRITE_BYTES) return this.#store(job);
    if (this.#bytes - this.#leftBytes > MAX_GATHERED_BYTES) return this.#storeAll();
    if (this.#delayMs > 0) this.#timer ??= this.#clock.schedule(this.#delayMs, () => this.#tick());
    return undefined;
  }

  /** A write of output of the job is done. What is overdue follows. */
  noteStored(job: Job): void {
    const dueMs = this.#dueMs.get(job);
    if (dueMs !== undefined && job.appendsUnderWay === 0 && dueMs <= this.#clock.monotonicMs()) this.#store(job);
  }

  /** What was gathered of the job is stored otherwise. Called before it is taken. */
  remove(job: Job): void {
    if (!this.#dueMs.delete(job)) return;
    this.#bytes -= job.unstored.bytes;
    this.#leftBytes = Math.min(this.#leftBytes, this.#bytes);
  }

  /** Stores everything, and stops the timer. */
  close(): void {
    this.#timer?.cancel();
    for (const job of this.#dueMs.keys()) this.#store(job);
  }

  #dueOf(job: Job): number {
    const nowMs = this.#clock.monotonicMs();
    const grownMs = (nowMs - job.firstOutputMs) * PART_OF_AGE;
    return nowMs + Math.min(Math.max(this.#delayMs, grownMs), this.#delayMs * MAX_GROWTH);
  }

  #tick(): void {
    this.#timer = null;
    // What is due before the next tick shares this commit.
    this.#storeDue(this.#clock.monotonicMs() + this.#delayMs / 2);
    if (this.#dueMs.size > 0) this.#timer = this.#clock.schedule(this.#delayMs, () => this.#tick());
  }

  #storeAll(): void {
    this.#storeDue(Infinity);
    this.#leftBytes = this.#bytes;
  }

  #storeDue(untilMs: number): void {
    for (const [job, dueMs] of this.#dueMs) if (dueMs <= untilMs && job.appendsUnderWay === 0) this.#store(job);
  }
}
