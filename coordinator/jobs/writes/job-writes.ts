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

type StoredEnd = Awaited<ReturnType<JobStore["end"]>>;

/**
 * Stores the changes of unfinished jobs in order. Promises resolve after the commit, or without effect if the new job
 * was withdrawn. They never settle if another coordinator has the job.
 */
export function writeJobs(
  { config, clock, onFatal }: Env<"feedDelayMs">,
  store: Pick<Store, "jobs" | "cluster" | "readOnlyReason">,
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

  /**
   * Writes once the job itself is stored, unless another coordinator has the job. Resolves with undefined if the job was
   * withdrawn.
   */
  function afterJob<T>(job: MutableJob, write: () => Promise<T>): Promise<T | undefined> {
    const writeOwn = async (): Promise<T | undefined> => {
      if (job.isWithdrawn) return undefined;
      return job.isDropped ? never() : write();
    };
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

  /**
   * Waits until the submission before a write has succeeded or failed. If it has failed, so has the write. Resolves with
   * undefined then.
   */
  async function onceDecided<T>(job: MutableJob, written: Promise<T>): Promise<T | undefined> {
    const [outcome] = await Promise.allSettled([written, job.stored]);
    if (job.isWithdrawn) return undefined;
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
    const { chunk, stored } = take(job);
    const appended = afterJob(job, () => store.jobs.appendFeed(chunk));
    job.appendsInFlight += 1;
    void appended.then(() => {
      job.appendsInFlight -= 1;
      if (chunk.seq !== null && job.attempt === chunk.attempt) job.durableSeq = chunk.seq;
      stored?.resolve();
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
    /**
     * Whether the end of a new job can share the commit of its submission. With several coordinators they may be
     * committed separately, and while the store is read-only, ends would queue behind submissions that it refuses.
     */
    get mayShareCommit(): boolean {
      return !store.cluster.isShared && store.readOnlyReason === null;
    },
    /** Stores the end with all gathered changes, and then calls `onEnd`, unless the job was withdrawn. */
    end(job: MutableJob, ending: JobEnding, onEnd: (stored: StoredEnd) => void): Promise<void> {
      const startedAtMs = takeStart(job);
      const { chunk, stored } = take(job);
      const start = startedAtMs === null ? {} : { startedAtMs };
      const last = chunk.items.length === 0 ? {} : { lastChunk: chunk };
      const write = (): Promise<StoredEnd> => store.jobs.end({ ...ending, ...start, ...last });
      const sharesCommit = this.mayShareCommit && job.stored !== null && job.waitingWrites === null;
      const written = sharesCommit ? guarded(job, onceDecided(job, write())) : afterJob(job, write);
      const ended = persist(
        written.then((end) => {
          if (end !== undefined) onEnd(end);
          stored?.resolve();
        }),
      );
      // Output that is stored with the end shares its promise, so that one acknowledgement covers both.
      return stored?.promise ?? ended;
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
    /** Discards the gathered changes of a job that was withdrawn. */
    withdraw(job: MutableJob): void {
      behind.remove(job);
      take(job).stored?.resolve();
    },
    /** Stores the gathered changes. Later failures of writes are not fatal: the next start restores the jobs. */
    close(): void {
      isClosed = true;
      behind.close();
    },
  };
}

function take(job: MutableJob): { readonly chunk: FeedChunk; readonly stored: PromiseWithResolvers<void> | null } {
  const { items, seq, stored } = job.unstored.take();
  return { chunk: { jobId: job.id, attempt: job.attempt, seq, items }, stored };
}

/** Returns a promise that never settles: callers neither continue as after a write nor report another failure. */
function never(): Promise<never> {
  return new Promise(() => {});
}
