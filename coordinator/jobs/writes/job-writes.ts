import { ServiceError } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import type { Env } from "../../env.ts";
import { NotOwnerError } from "../../store/cluster-store.ts";
import type { FeedChunk, JobEnding, JobMove } from "../../store/jobs/job-store.ts";
import type { JobStore } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { MutableJob } from "../active-job.ts";
import type { OutputSize } from "../output-size.ts";
import { writeBehind } from "./write-behind.ts";

export type JobWrites = ReturnType<typeof writeJobs>;

/**
 * Stores the changes of unfinished jobs in order. Promises resolve after the commit. They never settle if another
 * coordinator has the job.
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

  /** Stores the gathered changes of a job. Without output, stores only the start: status items wait for output. */
  function gathered(job: MutableJob): void {
    if (job.unstored.hasOutput) append(job);
    else storeStart(job);
  }

  /** Wraps a write whose effects are already visible in memory. If it fails, the process must end: storage differs. */
  function persist<T>(write: Promise<T>): Promise<T> {
    return write.catch((error: unknown) => {
      if (!isClosed) onFatal(error);
      return never();
    });
  }

  /** Writes once the job itself is stored, unless another coordinator has the job. */
  function afterJob<T>(job: MutableJob, write: () => Promise<T>): Promise<T> {
    const writeOwn = (): Promise<T> => (job.isDropped ? never() : write());
    const before = job.waitingWrites ?? job.stored;
    return guarded(job, before === null ? writeOwn() : writeAfter(job, before, writeOwn));
  }

  function guarded<T>(job: MutableJob, written: Promise<T>): Promise<T> {
    return written.catch((error: unknown) => {
      if (isClosed) return never();
      if (error instanceof NotOwnerError) onNotOwner(job, error.ownerId);
      else onFatal(error);
      return never();
    });
  }

  /** Waits for the commit of the submission. A write behind a submission that failed has no effect. */
  async function onceAccepted<T>(job: MutableJob, written: Promise<T>): Promise<T> {
    const [outcome] = await Promise.allSettled([written, job.offered]);
    if (job.isDropped) return never();
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  }

  /** Begins a write after the writes that already wait, even if the job is durable by then. */
  async function writeAfter<T>(job: MutableJob, before: Promise<unknown>, write: () => Promise<T>): Promise<T> {
    // The object keeps the next write from waiting for this commit.
    const begun = before.then(() => ({ written: write() }));
    job.waitingWrites = begun;
    const { written } = await begun;
    if (job.waitingWrites === begun) job.waitingWrites = null;
    return written;
  }

  function storeStart(job: MutableJob): void {
    const atMs = takeStart(job);
    if (atMs !== null) void move(job, "start", atMs);
  }

  /** Takes the start of the attempt, which the caller stores now; null if it is already stored. */
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

  /** Immediately stores output that is too large for memory. Readers read it from storage. */
  function storeLarge(job: MutableJob, seq: number, items: readonly OutputItem[], bytes: number): Promise<void> {
    if (job.unstored.hasOutput) append(job);
    const before = job.unstored.count;
    const stored = job.unstored.add(seq, items, bytes);
    const { chunk, appended } = append(job);
    job.publish(store.jobs.storedItems(chunk, appended).slice(before));
    return stored;
  }

  return {
    move,
    gathered,
    persist,
    /** Stores the start of the current attempt, together with its first output if that comes soon. */
    startSoon(job: MutableJob): void {
      behind.add(job, 0);
    },
    /** Publishes output to readers at once, and stores it soon. */
    output(job: MutableJob, seq: number, items: readonly OutputItem[], size: OutputSize): Promise<void> {
      const { bytes, memoryBytes } = size;
      if (bytes > memoryBytes) return storeLarge(job, seq, items, bytes);
      job.publish(items);
      if (job.firstOutputMs === Infinity) job.firstOutputMs = clock.monotonicMs();
      const stored = job.unstored.add(seq, items, bytes);
      behind.add(job, bytes);
      return stored;
    },
    /** Stores the end with all gathered changes. */
    end(job: MutableJob, ending: JobEnding): ReturnType<JobStore["end"]> {
      const startedAtMs = takeStart(job);
      const { chunk, onStored } = take(job);
      const start = startedAtMs === null ? {} : { startedAtMs };
      const last = chunk.items.length === 0 ? {} : { lastChunk: chunk };
      const write = (key?: string) => store.jobs.end({ ...ending, ...start, ...last }, key);
      // The store keeps the order of an account's writes, so the end can share the commit of the submission.
      const isFirstWrite = job.offered !== null && job.waitingWrites === null;
      const ended = isFirstWrite ? guarded(job, onceAccepted(job, write(job.accountId))) : afterJob(job, () => write());
      void ended.then(onStored);
      return ended;
    },
    /** Reads a record of the job. If it is missing in a cluster, another coordinator had the job, which has ended. */
    read<T>(job: MutableJob, reading: Promise<T>): Promise<T> {
      const own = reading.catch((error: unknown) => {
        const isMissing = error instanceof ServiceError && error.code === "not_found";
        if (!isMissing || !store.cluster.isShared) throw error;
        onNotOwner(job, null);
        return never();
      });
      return persist(own);
    },
    forget(job: MutableJob): void {
      behind.remove(job);
    },
    /** Stores the gathered changes. Later failures of writes are not fatal: the next start restores the jobs. */
    close(): void {
      isClosed = true;
      behind.close();
    },
  };
}

function take(job: MutableJob): { readonly chunk: FeedChunk; readonly onStored: () => void } {
  const { items, seq, onStored } = job.unstored.take();
  return { chunk: { jobId: job.id, attempt: job.attempt, seq, items }, onStored };
}

/** Returns a promise that never settles: callers neither continue as after a write nor report another failure. */
function never(): Promise<never> {
  return new Promise(() => {});
}
