import { ServiceError } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import type { Env } from "../../env.ts";
import { NotOwnerError } from "../../store/cluster-store.ts";
import type { FeedChunk, JobEnding, JobMove } from "../../store/jobs/job-store.ts";
import type { JobStore } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { MutableJob } from "../active-job.ts";
import { writeBehind } from "./write-behind.ts";

export type JobWrites = ReturnType<typeof writeJobs>;

/**
 * Stores what happens to unfinished jobs, in the order in which it happened. A promise resolves after the commit, and never for a job that
 * another coordinator has.
 * @param onNotOwner a write was refused, as the job is another coordinator's.
 */
export function writeJobs(
  { config, clock, onFatal }: Env<"feedDelayMs">,
  store: Pick<Store, "jobs" | "cluster">,
  onNotOwner: (job: MutableJob, ownerId: string | null) => void,
) {
  const behind = writeBehind<MutableJob>(clock, config.feedDelayMs, gathered);
  let isClosed = false;

  function move(job: MutableJob, event: JobMove["event"], atMs: number = clock.now()): Promise<void> {
    const { id: jobId, attempt, refusals, islandId, waitDeadlineMs } = job;
    const made = { jobId, event, attempt, refusals, islandId, atMs, waitDeadlineMs };
    job.moved = afterJob(job, () => store.jobs.move(made));
    return job.moved;
  }

  /** What was gathered of a job is stored now. States alone wait for output. */
  function gathered(job: MutableJob): void {
    if (job.unstored.hasOutput) append(job);
    else storeStart(job);
  }

  /** Takes over a write that was acted on before it is durable: if it fails, memory and storage differ and the process must end. */
  function persist<T>(write: Promise<T>): Promise<T> {
    return write.catch((error: unknown) => {
      if (!isClosed) onFatal(error);
      return never();
    });
  }

  /** Writes once the job itself is stored. */
  function afterJob<T>(job: MutableJob, write: () => Promise<T>): Promise<T> {
    const writeOwn = (): Promise<T> => (job.isDropped ? never() : write());
    const written = job.stored === null ? writeOwn() : job.stored.then(writeOwn);
    return written.catch((error: unknown) => {
      if (isClosed) return never();
      if (error instanceof NotOwnerError) onNotOwner(job, error.ownerId);
      else onFatal(error);
      return never();
    });
  }

  function storeStart(job: MutableJob): void {
    const atMs = takeStart(job);
    if (atMs !== null) void move(job, "start", atMs);
  }

  /** When the attempt began, if that is not stored; the caller stores it. */
  function takeStart(job: MutableJob): number | null {
    behind.remove(job);
    return job.unstored.takeStart();
  }

  function append(job: MutableJob): { readonly chunk: FeedChunk; readonly appended: Promise<void> } {
    storeStart(job);
    const { chunk, onStored } = take(job);
    const appended = afterJob(job, () => store.jobs.appendFeed(chunk));
    job.appendsInFlight += 1;
    void appended.then(() => {
      job.appendsInFlight -= 1;
      if (chunk.seq !== null && job.attempt === chunk.attempt) job.durableSeq = chunk.seq;
      onStored();
      behind.noteStored(job);
    });
    return { chunk, appended };
  }

  return {
    move,
    gathered,
    persist,
    /** The present attempt began. That is stored with its first output, or soon. */
    startSoon(job: MutableJob): void {
      behind.add(job, 0);
    },
    outputSoon(job: MutableJob, seq: number, items: readonly OutputItem[], bytes: number): Promise<void> {
      if (job.firstOutputMs === Infinity) job.firstOutputMs = clock.monotonicMs();
      const stored = job.unstored.add(seq, items, bytes);
      behind.add(job, bytes);
      return stored;
    },
    /** Output that is too large to be in memory is stored now, and readers get it from storage. */
    largeOutput(job: MutableJob, seq: number, items: readonly OutputItem[], bytes: number): Promise<void> {
      if (job.unstored.hasOutput) append(job);
      const before = job.unstored.count;
      const stored = job.unstored.add(seq, items, bytes);
      const { chunk, appended } = append(job);
      job.say(store.jobs.storedItems(chunk, appended).slice(before));
      return stored;
    },
    /** The end of a job, with what was gathered, and with the start of its attempt if that is not stored. */
    end(job: MutableJob, ending: JobEnding): ReturnType<JobStore["end"]> {
      const startedAtMs = takeStart(job);
      const { chunk, onStored } = take(job);
      const whole = {
        ...ending,
        ...(startedAtMs === null ? {} : { startedAtMs }),
        ...(chunk.items.length > 0 ? { lastChunk: chunk } : {}),
      };
      const ended = afterJob(job, () => store.jobs.end(whole));
      void ended.then(onStored);
      return ended;
    },
    /**
     * Reads what every unfinished job has. Where several coordinators share the jobs, that it is missing says that another had the job,
     * which has ended.
     */
    read<T>(job: MutableJob, reading: Promise<T>): Promise<T> {
      const own = reading.catch((error: unknown) => {
        const isMissing = error instanceof ServiceError && error.code === "not_found";
        if (!isMissing || !store.cluster.isShared) throw error;
        onNotOwner(job, null);
        return never();
      });
      return persist(own);
    },
    /** Another coordinator has the job: what was gathered of it is not stored here. */
    forget(job: MutableJob): void {
      behind.remove(job);
    },
    /** Stores what was gathered of all jobs. A write that fails from now on is not fatal: the job is restored at the next start. */
    close(): void {
      isClosed = true;
      behind.close();
    },
  };
}

/** Takes what was gathered as a chunk for storage. */
function take(job: MutableJob): { readonly chunk: FeedChunk; readonly onStored: () => void } {
  const { items, seq, onStored } = job.unstored.take();
  return { chunk: { jobId: job.id, attempt: job.attempt, seq, items }, onStored };
}

/** Nothing may continue as if the write had happened, nor report a failure of its own. */
function never(): Promise<never> {
  return new Promise(() => {});
}
