import type { Timer } from "../../shared/clock.ts";
import type { JobError } from "../../shared/errors.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { ActiveJobRecord, SubmittedJob } from "../store/jobs/job-store.ts";
import type { ActiveJob, Assignee } from "./active-job.ts";
import { ActiveJobs, type ActiveJobsDeps } from "./active-jobs.ts";
import { JobAttempts, type JobAttemptsDeps } from "./attempts/job-attempts.ts";
import type { JobRegistryEvent } from "./job-registry-events.ts";
import type { ReturningJob } from "./job-memory.ts";
import { JobMoves } from "./job-moves.ts";
import { MutableJob } from "./mutable-job.ts";
import { RestoredJobs, type RestoredJobsDeps } from "./restored-jobs.ts";

export interface JobRegistryDeps extends ActiveJobsDeps, JobAttemptsDeps, RestoredJobsDeps {
  /** How long the jobs of a client that lost its connection in a crash wait for it. */
  readonly graceMs: number;
  /**
   * Whether readers at other coordinators could have come at any time since `sinceMs`, by the monotonic clock; absent: there are no others.
   */
  readonly couldReadersCome?: ((sinceMs: number) => boolean) | undefined;
}

/** A job that is being stored. */
export interface Offer {
  /** The Island that got its first attempt; null if no fitting one had a free slot. */
  readonly islandId: string | null;
  /** The job is durable: it competes, or its Island hears of it. */
  accept(): void;
  /** The job could not be stored, or is the repeat of another one. */
  withdraw(): void;
}

/** A job before its first attempt. */
const NEW_JOB = {
  batchId: null,
  state: "pending",
  attempt: 0,
  refusals: 0,
  islandId: null,
  startedAtMs: null,
} as const;

/**
 * Owner of every unfinished job. Everything that changes a job is a command here or in {@link JobAttempts}: it acts in memory in
 * one turn of the event loop, stores what it did, and tells subscribers. Others see jobs as {@link ActiveJob}.
 */
export class JobRegistry {
  /** Commands on the attempts of jobs. */
  readonly attempts: JobAttempts;
  /** Commands for jobs that go to another coordinator. */
  readonly moves: JobMoves;
  readonly #restored: RestoredJobs;
  readonly #active: ActiveJobs;
  readonly #deps: JobRegistryDeps;
  /** See {@link awaitReaders}. */
  readonly #unread = new Set<string>();
  readonly #readerLimits = new Set<Timer>();

  constructor(deps: JobRegistryDeps) {
    this.#deps = deps;
    this.#active = new ActiveJobs(deps);
    this.attempts = new JobAttempts(this.#active, deps);
    this.moves = new JobMoves(this.#active);
    this.#restored = new RestoredJobs(this.#active, this.attempts, deps);
  }

  /** Undefined for an unknown id and for a job whose end is durable. */
  get(jobId: string): ActiveJob | undefined {
    return this.#active.byId.get(jobId);
  }

  /** Durable ones, oldest first. */
  *list(): Iterable<ActiveJob> {
    for (const job of this.#active.byId.values()) if (job.stored === null) yield job;
  }

  /** What the job runs: the Cargo as it was when the job was accepted, or at the last restart. */
  cargoOf({ id }: ActiveJob): CatalogEntry | undefined {
    return this.#active.cargoOf(this.#active.require(id));
  }

  /** Longest time that the job may run. */
  runLimitMs({ id }: ActiveJob): number {
    return this.#active.runLimitMs(this.#active.require(id));
  }

  /** Calls `listener` for each event, synchronously. */
  subscribe(listener: (event: JobRegistryEvent) => void): void {
    this.#active.subscribe(listener);
  }

  /**
   * Takes in a new job that has its place and is stored now. An Island with a free slot gets it at once, so that job and attempt are one
   * commit; the Island is told after it. One of the two functions of the offer must follow.
   */
  offer(submitted: SubmittedJob, cargo: CatalogEntry): Offer {
    const { input } = submitted;
    const job = this.#active.add(new MutableJob({ ...submitted, ...NEW_JOB }));
    job.hasPlace = true;
    job.input = input;
    job.cargo = cargo;
    this.#active.learnTraits(job, input);
    const { promise, resolve } = Promise.withResolvers<void>();
    job.stored = promise;
    job.isOffered = true;
    if (this.#active.hasCargo(job)) this.#active.emit({ type: "job_offered", job });
    job.isOffered = false;
    return {
      islandId: job.islandId,
      accept: () => {
        resolve();
        // After the writes that wait for it.
        void promise.then(() => {
          job.stored = null;
        });
        this.#admit(job);
      },
      withdraw: () => this.#active.withdraw(job),
    };
  }

  /** Takes in a new, durable job of a batch. It waits for its account's place until {@link admitParked}. */
  park(record: ActiveJobRecord, cargo: CatalogEntry): ActiveJob {
    const job = this.#active.add(new MutableJob(record));
    job.cargo = cargo;
    this.#active.emit({ type: "job_stored", job });
    return job;
  }

  /** Gives a parked job a place, whatever the limit, and lets it compete for Islands. */
  admitParked(jobId: string): void {
    const job = this.#active.require(jobId);
    this.#active.takePlace(job);
    this.#active.beginCompeting(job);
  }

  /**
   * Takes in a job that was unfinished when the coordinator last stopped, or that another coordinator had. One that an Island has waits
   * for that Island to come back; a job of a batch that never had an attempt is parked, unless the store knows that it has a place; the
   * others compete.
   * @param islandOwnerId Account of the Island that has the job; null when no Island has it, and when that one is not known any more:
   *   then the caller gives the attempt up.
   * @param graceMs how long its Island may take to come back; absent: that of a restart.
   */
  restore(record: ReturningJob, islandOwnerId: string | null, graceMs?: number): Promise<void> | undefined {
    return this.#restored.restore(record, islandOwnerId, graceMs);
  }

  /** Takes in a job of another coordinator whose last attempt an Island has brought here: it has the job, or has it again. */
  bring(record: ReturningJob, assignee: Assignee, attempt: number): Promise<void> {
    return this.#restored.bring(record, assignee, { attempt, graceMs: this.#deps.graceMs });
  }

  /**
   * Takes note of restored jobs whose clients waited on a connection, which is gone. They are cancelled, as of clients that leave,
   * unless a reader of theirs comes within the grace, or has come before. A grace in which readers could not come begins again.
   */
  awaitReaders(jobIds: readonly string[]): void {
    if (jobIds.length === 0) return;
    for (const id of jobIds) this.#unread.add(id);
    const { clock, graceMs, couldReadersCome } = this.#deps;
    const sinceMs = clock.monotonicMs();
    const limit = clock.schedule(graceMs, () => {
      this.#readerLimits.delete(limit);
      if (couldReadersCome?.(sinceMs) === false) this.awaitReaders(jobIds.filter((id) => this.#unread.has(id)));
      else this.#cancelUnread(jobIds);
    });
    this.#readerLimits.add(limit);
  }

  /** Somebody reads the job's output. */
  noteReader(jobId: string): void {
    this.#unread.delete(jobId);
  }

  /**
   * The Cargo with this slug is new, changed or gone. If the Cargo is gone, its pending jobs fail, and jobs that an Island has get no
   * other attempt. Otherwise each job keeps the Cargo that it was accepted for; an approval of that same Cargo counts.
   */
  cargoChanged(slug: string): void {
    const { catalog } = this.#deps;
    const isGone = catalog.known(slug) === undefined;
    for (const job of this.#active.byId.values()) {
      if (job.slug !== slug || job.state !== "pending" || job.stored !== null) continue;
      const isApproved = job.cargo !== null && catalog.approvedForm(job.cargo) !== job.cargo;
      if (isGone) void this.#active.failWithoutCargo(job);
      // A parked job competes only when it is admitted.
      else if (isApproved && job.hasPlace) this.#active.compete(job);
    }
  }

  /** Ends a job at its client's wish. Resolves when the end is durable. @throws {NotOwnerError} when another coordinator has the job by now. */
  cancel(jobId: string): Promise<void> {
    const job = this.#active.require(jobId);
    this.stop(jobId);
    return this.#active.untilEnded(job);
  }

  /** Like {@link cancel}, for who does not wait for it. */
  stop(jobId: string): void {
    void this.#active.stop(this.#active.require(jobId), "cancelled", { event: "cancel" });
  }

  /** Cancels every unfinished job of an account that is being deleted. Resolves when their ends are durable, or others have them. */
  async cancelAll(accountId: string): Promise<void> {
    const own = [...this.list()].filter((job) => job.accountId === accountId);
    for (const { id, hasEnded } of own) if (!hasEnded) this.stop(id);
    await this.settled(own);
  }

  /** Ends a job that did not begin in time. `reason`: why it waited, for the client; null when nobody knows. */
  expireWait(jobId: string, reason: string | null): Promise<void> {
    const job = this.#active.require(jobId);
    if (job.final !== null) return this.#endUnconfirmed(job, job.final.error);
    const message = `${describeWait(job)}${reason === null ? "" : `: ${reason}`}`;
    const error: JobError = { code: "wait_timeout", message, retryable: true };
    return this.#active.stop(job, "timeout", { event: "expire", error });
  }

  /** Ends a waiting job that no Island can run. `reason`: what they lack, for the client. */
  refuseWait(jobId: string, reason: string): Promise<void> {
    const job = this.#active.require(jobId);
    if (job.final !== null) return this.#endUnconfirmed(job, job.final.error);
    const message = `No Island can run this job: ${reason}`;
    return this.#active.end(job, { event: "fail", error: { code: "no_island_fits", message, retryable: false } });
  }

  /** No second Island confirmed what the only one that tried reported. */
  #endUnconfirmed(job: MutableJob, error: JobError): Promise<void> {
    return this.#active.end(job, { event: error.code === "run_timeout" ? "expire" : "fail", error });
  }

  /** For work that was acted on before it is done, such as a write: if it fails, the process ends and starts again from storage. */
  persist<T>(write: Promise<T>): Promise<T> {
    return this.#active.writes.persist(write);
  }

  /** Resolves when the ends of these jobs are durable, or another coordinator has them: of those that have ended so far, all unless told. */
  async settled(jobs: Iterable<ActiveJob> = this.#active.byId.values()): Promise<void> {
    const ending = [...jobs].flatMap(({ id, hasEnded }) => (hasEnded ? (this.#active.byId.get(id) ?? []) : []));
    await Promise.allSettled(ending.map((job) => this.#active.untilEnded(job)));
  }

  /** Stops all timers. A write that fails from now on is not fatal: the job is restored at the next start. */
  close(): void {
    for (const limit of this.#readerLimits) limit.cancel();
    this.#active.close();
  }

  #cancelUnread(jobIds: readonly string[]): void {
    for (const id of jobIds) {
      const job = this.#active.byId.get(id);
      if (this.#unread.delete(id) && job?.hasEnded === false && job.feed.readers === 0) this.stop(id);
    }
  }

  /** The job is durable. */
  #admit(job: MutableJob): void {
    // Its Island was lost, and its wait passed, while it was being stored.
    if (job.hasEnded || job.isDropped) return;
    this.#active.emit({ type: "job_stored", job });
    if (job.state === "pending") return this.#active.beginCompeting(job);
    job.input = null;
    this.#active.noteSign(job);
    return this.#active.beginWait(job);
  }
}

/** What the job waited for in vain. */
function describeWait({ state, attempt, refusals }: MutableJob): string {
  const ended = attempt - refusals - (state === "queued" ? 1 : 0);
  if (ended === 0) return "No Island began the job within its wait limit";
  const attempts = ended === 1 ? "1 attempt" : `${ended} attempts`;
  return `${attempts} of the job ended without a result, and no Island began another in time`;
}
