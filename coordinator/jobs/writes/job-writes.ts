import type { Clock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { NotOwnerError } from "../../store/cluster-store.ts";
import type { FeedChunk, JobEnding, JobMove } from "../../store/jobs/job-store.ts";
import type { JobStore } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { MutableJob } from "../mutable-job.ts";
import { WriteBehind } from "./write-behind.ts";

export interface JobWritesDeps {
  readonly store: Pick<Store, "jobs" | "cluster">;
  readonly clock: Pick<Clock, "now" | "monotonicMs" | "schedule">;
  /** How long output may be with readers and not in storage; see {@link WriteBehind}. */
  readonly feedDelayMs: number;
  /** Called when a state that was acted on could not be stored: the process must end and start again from storage. */
  readonly onFatal: (error: unknown) => void;
}

/**
 * What is stored of unfinished jobs, in the order in which it happened. A promise resolves after the commit, and never for a job that
 * another coordinator has.
 */
export class JobWrites {
  readonly #deps: JobWritesDeps;
  readonly #behind: WriteBehind<MutableJob>;
  readonly #onNotOwner: (job: MutableJob, ownerId: string | null) => void;
  #isClosed = false;

  /** `onNotOwner`: a write was refused, as the job is another coordinator's. */
  constructor(deps: JobWritesDeps, onNotOwner: (job: MutableJob, ownerId: string | null) => void) {
    this.#deps = deps;
    this.#onNotOwner = onNotOwner;
    this.#behind = new WriteBehind(deps.clock, deps.feedDelayMs, (job) => this.gathered(job));
  }

  /** A move that the job has just made. */
  move(job: MutableJob, event: JobMove["event"], atMs: number = this.#deps.clock.now()): Promise<void> {
    const { id: jobId, attempt, refusals, islandId, waitDeadlineMs } = job;
    const move = { jobId, event, attempt, refusals, islandId, atMs, waitDeadlineMs };
    job.moved = this.#afterJob(job, () => this.#deps.store.jobs.move(move));
    return job.moved;
  }

  /** The present attempt began. That is stored with its first output, or soon. */
  startSoon(job: MutableJob): void {
    this.#behind.add(job, 0);
  }

  /** Output that readers have is stored soon. */
  outputSoon(job: MutableJob, seq: number, items: readonly OutputItem[], bytes: number): Promise<void> {
    if (job.firstOutputMs === Infinity) job.firstOutputMs = this.#deps.clock.monotonicMs();
    const stored = job.unstored.add(seq, items, bytes);
    this.#behind.add(job, bytes);
    return stored;
  }

  /** Output that is too large to be in memory is stored now, and readers get it from storage. */
  largeOutput(job: MutableJob, seq: number, items: readonly OutputItem[], bytes: number): Promise<void> {
    if (job.unstored.hasOutput) this.#append(job);
    const before = job.unstored.count;
    const stored = job.unstored.add(seq, items, bytes);
    const { chunk, appended } = this.#append(job);
    job.say(this.#deps.store.jobs.storedItems(chunk, appended).slice(before));
    return stored;
  }

  /** What was gathered of a job is stored now. States alone wait for output. */
  gathered(job: MutableJob): void {
    if (job.unstored.hasOutput) this.#append(job);
    else this.#start(job);
  }

  /** The end of a job, with what was gathered, and with the start of its attempt if that is not stored. */
  end(job: MutableJob, ending: JobEnding): ReturnType<JobStore["end"]> {
    const startedAtMs = this.#takeStart(job);
    const { chunk, onStored } = this.#take(job);
    const whole = {
      ...ending,
      ...(startedAtMs === null ? {} : { startedAtMs }),
      ...(chunk.items.length > 0 ? { lastChunk: chunk } : {}),
    };
    const ended = this.#afterJob(job, () => this.#deps.store.jobs.end(whole));
    void ended.then(onStored);
    return ended;
  }

  /** Takes over a write that was acted on before it is durable: if it fails, memory and storage differ and the process must end. */
  persist<T>(write: Promise<T>): Promise<T> {
    return write.catch((error: unknown) => {
      if (!this.#isClosed) this.#deps.onFatal(error);
      return never();
    });
  }

  /**
   * Reads what every unfinished job has. Where several coordinators share the jobs, that it is missing says that another had the job, which
   * has ended.
   */
  read<T>(job: MutableJob, reading: Promise<T>): Promise<T> {
    const own = reading.catch((error: unknown) => {
      const isMissing = error instanceof ServiceError && error.code === "not_found";
      if (!isMissing || this.#deps.store.cluster === null) throw error;
      this.#onNotOwner(job, null);
      return never();
    });
    return this.persist(own);
  }

  /** Another coordinator has the job: what was gathered of it is not stored here. */
  forget(job: MutableJob): void {
    this.#behind.remove(job);
  }

  /** Stores what was gathered of all jobs. A write that fails from now on is not fatal: the job is restored at the next start. */
  close(): void {
    this.#isClosed = true;
    this.#behind.close();
  }

  /** Writes once the job itself is stored. */
  #afterJob<T>(job: MutableJob, write: () => Promise<T>): Promise<T> {
    const writeOwn = (): Promise<T> => (job.isDropped ? never() : write());
    const written = job.stored === null ? writeOwn() : job.stored.then(writeOwn);
    return written.catch((error: unknown) => {
      if (this.#isClosed) return never();
      if (error instanceof NotOwnerError) this.#onNotOwner(job, error.ownerId);
      else this.#deps.onFatal(error);
      return never();
    });
  }

  #start(job: MutableJob): void {
    const atMs = this.#takeStart(job);
    if (atMs !== null) void this.move(job, "start", atMs);
  }

  /** When the attempt began, if that is not stored; the caller stores it. */
  #takeStart(job: MutableJob): number | null {
    this.#behind.remove(job);
    return job.unstored.takeStart();
  }

  #append(job: MutableJob): { readonly chunk: FeedChunk; readonly appended: Promise<void> } {
    this.#start(job);
    const { chunk, onStored } = this.#take(job);
    const appended = this.#afterJob(job, () => this.#deps.store.jobs.appendFeed(chunk));
    job.appendsUnderWay += 1;
    void appended.then(() => {
      job.appendsUnderWay -= 1;
      if (chunk.seq !== null && job.attempt === chunk.attempt) job.durableSeq = chunk.seq;
      onStored();
      this.#behind.noteStored(job);
    });
    return { chunk, appended };
  }

  /** Takes what was gathered as a chunk for storage. */
  #take(job: MutableJob): { readonly chunk: FeedChunk; readonly onStored: () => void } {
    const { items, seq, onStored } = job.unstored.take();
    return { chunk: { jobId: job.id, attempt: job.attempt, seq, items }, onStored };
  }
}

/** Nothing may continue as if the write had happened, nor report a failure of its own. */
function never(): Promise<never> {
  return new Promise(() => {});
}
