import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import type { Timer } from "../../shared/clock.ts";
import type { JobError } from "../../shared/errors.ts";
import type { OutputItem, PromptTokens } from "../../shared/output.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { FILES_FEATURE } from "../../shared/job-files.ts";
import { DEFAULT_RUN_LIMIT_MS, DEFAULT_WAIT_LIMIT_MS } from "../catalog/cargo-fields.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import type { MemoryBudgets } from "../config/memory-settings.ts";
import { settle } from "../credits/settle.ts";
import type { Env } from "../env.ts";
import type { DailyStorage } from "../quotas/daily-storage.ts";
import type { JobQuota } from "../quotas/job-quota.ts";
import { outputBudget, type OutputBudget, type OutputOwner, outputOwners } from "../quotas/output-budget.ts";
import type { FailureCause } from "../scheduler/circuit-breaker.ts";
import type { AuditPlan } from "../store/audits.ts";
import { NotOwnerError } from "../store/cluster-store.ts";
import type { ActiveJobRecord, JobEnding, JobInput, SubmittedJob } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { type ActiveJob, type Assignee, type HandoverState, MutableJob, type ReturningJob } from "./active-job.ts";
import { AttemptMeter } from "./attempts/attempt-meter.ts";
import { openDeadlines, type Deadlines } from "./attempts/deadlines.ts";
import { mayRetry, MIN_TIME_TO_FIND_ISLAND_MS } from "./attempts/retry-policy.ts";
import type { Backlog, Feed } from "./feed.ts";
import {
  chargedPromptOf,
  deliveredUsage,
  feedEndingOf,
  isFaultOfIsland,
  isVisibleOutput,
  type Outcome,
  type RunResult,
} from "./job-ending.ts";
import type { JobRegistryEvent } from "./job-registry-events.ts";
import { traitsOf } from "./job-traits.ts";
import { type OutputSize, sizeOf } from "./output-size.ts";
import { type JobWrites, writeJobs } from "./writes/job-writes.ts";

type JobEnv = Env<
  | "acceptLimitMs"
  | "feedDelayMs"
  | "firstOutputLimitMs"
  | "islandGraceMs"
  | "maxAttempts"
  | "maxRunMs"
  | "networkFee"
  | "restartGraceMs"
  | "silenceLimitMs"
  | "startLimitMs"
>;

/** The result of storing a new job. `created`: false if the request repeats an earlier one. */
interface Stored {
  readonly created: boolean;
}

/** The setting that holds the default limit of each phase. */
const PHASE_LIMITS = {
  accept: "acceptLimitMs",
  start: "startLimitMs",
  first_output: "firstOutputLimitMs",
  silence: "silenceLimitMs",
} as const satisfies Record<AttemptPhase, keyof JobEnv["config"]>;

/** The initial state of a job without attempts. */
export const NEW_JOB = {
  state: "pending",
  attempt: 0,
  refusals: 0,
  islandId: null,
  startedAtMs: null,
} as const;

/**
 * Maximum delay of a phase timer. A longer delay means that this process was stalled and read no reports, so that the
 * phase limit starts again.
 */
const MAX_LATE_MS = 1_000;
/**
 * Time for which a submission waits for the end of the job if its client waits for the result, so that a short job
 * takes one commit. A job that takes longer, and a chat that has started, computes while it is stored. Output within
 * this time is late by a commit.
 */
export const SHORT_JOB_MS = 2;
/** Time after the grace period in which an Island that returned late can send its output and result. */
const REPORT_MARGIN_MS = 5_000;

/**
 * Owns every unfinished job. Each command changes a job in memory synchronously, stores the change, and notifies
 * subscribers. The promise that a command returns resolves when the change is durable.
 */
export class JobRegistry {
  /** Limits the bytes of output of unfinished jobs in memory, by account, by Island and in total. */
  readonly outputBudget: OutputBudget;
  /** Model tokens relayed since the start, including those of unfinished jobs. */
  relayedTokens = 0;
  readonly #env: JobEnv;
  readonly #store: Pick<Store, "jobs">;
  readonly #catalog: Catalog;
  readonly #jobQuota: JobQuota;
  readonly #dailyStorage: DailyStorage;
  readonly #maxOutputBytes: number;
  readonly #onWebhookDue: (webhookId: string, accountId: string) => void;
  readonly #couldReadersCome: (sinceMs: number) => boolean;
  readonly #planAudit: (job: ActiveJob) => AuditPlan | null;
  /** Jobs by id, until their end is durable. */
  readonly #jobs = new Map<string, MutableJob>();
  readonly #writes: JobWrites;
  readonly #deadlines: Deadlines;
  readonly #listeners = new Set<(event: JobRegistryEvent) => void>();
  /** Restored jobs that {@link awaitReaders} cancels unless a reader opens their feed. */
  readonly #unread = new Set<string>();
  readonly #readerLimits = new Set<Timer>();

  /**
   * @param couldReadersCome Returns true if readers at other coordinators could connect all the time since `sinceMs`.
   * @param planAudit Returns what happens with the earning of a job that ends; null to pay it at once.
   */
  constructor(
    env: JobEnv,
    store: Pick<Store, "jobs" | "cluster" | "readOnlyReason">,
    catalog: Catalog,
    jobQuota: JobQuota,
    dailyStorage: DailyStorage,
    memory: Parameters<typeof outputBudget>[0] & Pick<MemoryBudgets, "maxOutputBytes">,
    onWebhookDue: (webhookId: string, accountId: string) => void,
    couldReadersCome: (sinceMs: number) => boolean,
    planAudit: (job: ActiveJob) => AuditPlan | null,
  ) {
    this.#env = env;
    this.#store = store;
    this.#catalog = catalog;
    this.#jobQuota = jobQuota;
    this.#dailyStorage = dailyStorage;
    this.#maxOutputBytes = memory.maxOutputBytes;
    this.#onWebhookDue = onWebhookDue;
    this.#couldReadersCome = couldReadersCome;
    this.#planAudit = planAudit;
    this.outputBudget = outputBudget(memory);
    this.#deadlines = openDeadlines(
      env.clock,
      (jobId) => this.#phaseLeftMs(this.#require(jobId)),
      (jobId) => this.#passPhase(this.#require(jobId)),
    );
    this.#writes = writeJobs(env, store, (job, ownerId) => this.#drop(job, ownerId));
  }

  /** Returns the job; undefined for an unknown id, and once the job's end is durable. */
  get(jobId: string): ActiveJob | undefined {
    return this.#jobs.get(jobId);
  }

  /**
   * Returns the unfinished job if `attempt` is its current attempt and this Island has the job; otherwise undefined.
   */
  present(
    islandId: string,
    { jobId, attempt }: { readonly jobId: string; readonly attempt: number },
  ): ActiveJob | undefined {
    const job = this.#jobs.get(jobId);
    if (job === undefined || job.hasEnded) return undefined;
    return job.attempt === attempt && job.islandId === islandId ? job : undefined;
  }

  /** Lists the durable jobs in the order in which they were added here. A restart changes this order. */
  *list(): Iterable<ActiveJob> {
    for (const job of this.#jobs.values()) if (job.stored === null) yield job;
  }

  /**
   * Returns the Cargo version that the job was accepted for, or the version at the last restart. If the job has none,
   * returns the current version, or undefined if the Cargo was removed.
   */
  cargoOf({ cargo, slug }: ActiveJob): CatalogEntry | undefined {
    return cargo ?? this.#catalog.known(slug);
  }

  runLimitMs(job: ActiveJob): number {
    return Math.min(this.cargoOf(job)?.runLimitMs ?? DEFAULT_RUN_LIMIT_MS, this.#env.config.maxRunMs);
  }

  subscribe(listener: (event: JobRegistryEvent) => void): void {
    this.#listeners.add(listener);
  }

  // ---- New jobs

  /**
   * Takes a quota slot of the account and offers the new job to free Islands. An Island begins the first attempt at
   * once, while one commit stores the job and the attempt. If that fails, or if the request repeats an earlier one, the
   * attempt is stopped and nothing of it is stored. Resolves when the job is durable. `feed`: the feed of a job that has
   * ended by then and may have left the registry; else null.
   * @param maxJobs Maximum of unfinished jobs of the account. @throws {RateLimitedError} if the maximum is reached.
   * @param store Stores the job. `islandId`: the Island that has the first attempt; null if no fitting Island had a free
   * slot.
   */
  async submit<T extends Stored>(
    submitted: SubmittedJob,
    input: JobInput,
    cargo: CatalogEntry,
    maxJobs: number,
    store: (islandId: string | null) => Promise<T>,
  ): Promise<{ readonly stored: T; readonly feed: Feed | null }> {
    const { accountId } = submitted;
    this.#jobQuota.enter(accountId, maxJobs);
    const job = this.#add(new MutableJob({ ...submitted, ...NEW_JOB, batchId: null }));
    job.holdsQuota = true;
    job.input = input;
    job.cargo = cargo;
    this.#learnTraits(job, input);
    const decided = Promise.withResolvers<void>();
    job.stored = decided.promise;
    // An Island gets files only for a durable job.
    const hasFiles = job.traits?.features.includes(FILES_FEATURE) === true;
    if (this.#hasCargo(job) && !hasFiles) this.#emit({ type: "job_offered", job });
    const { islandId } = job;
    const stored = await this.#storeSoon(job, () => store(islandId)).catch((error: unknown) => {
      this.#withdraw(job);
      decided.resolve();
      throw error;
    });
    if (stored.created) this.#admit(job);
    else this.#withdraw(job);
    decided.resolve();
    return { stored, feed: stored.created && job.hasEnded ? job.feed : null };
  }

  /**
   * Calls `store` when the first attempt of a chat starts, has output or ends, or after {@link SHORT_JOB_MS}; at once if
   * the end could not share the commit.
   */
  #storeSoon<T>(job: MutableJob, store: () => Promise<T>): Promise<T> {
    if (job.islandId === null || !job.isClientBound || !this.#writes.mayShareCommit) return store();
    return new Promise((resolve) => {
      const storeNow = (): void => {
        limit.cancel();
        job.storeNow = null;
        resolve(store());
      };
      const limit = this.#env.clock.schedule(SHORT_JOB_MS, storeNow);
      job.storeNow = storeNow;
    });
  }

  /** Forgets a job that was not stored. */
  #withdraw(job: MutableJob): void {
    job.stored = null;
    job.isWithdrawn = true;
    this.#forget(job);
    this.#writes.withdraw(job);
    this.#leaveIsland(job);
    this.outputBudget.add(outputOwners(job.accountId, null), -job.memoryBytes);
    this.#emit({ type: "offer_withdrawn", job });
    this.#jobQuota.leave(job.accountId);
  }

  /** Adds a durable job of a batch, which waits for a quota slot of its account until {@link admitParked}. */
  park(record: ActiveJobRecord, cargo: CatalogEntry): ActiveJob {
    const job = this.#add(new MutableJob(record));
    job.cargo = cargo;
    this.#emit({ type: "job_stored", job });
    return job;
  }

  /** Lets a parked job compete for Islands. The job takes a quota slot even if the account exceeds its limit. */
  admitParked(jobId: string): void {
    const job = this.#require(jobId);
    this.#takeQuotaSlot(job);
    this.#beginCompeting(job);
  }

  // ---- Jobs from storage: after a restart, or from another coordinator

  /**
   * Adds an unfinished job of this coordinator's last run or of another coordinator. If an Island has the job, the job
   * waits for the Island's return; otherwise it competes or is parked.
   * @param islandOwnerId Account that owns the Island with the job. Null if no Island has the job, or if that Island is
   * unknown: the caller then ends the attempt.
   */
  restore(
    record: ReturningJob,
    islandOwnerId: string | null,
    graceMs: number = this.#env.config.restartGraceMs,
  ): Promise<void> | undefined {
    if (record.attempt > 0) return this.#restoreBegun(record, islandOwnerId, graceMs);
    // A job without attempts has no stored feed. No promise is created: 100,000 jobs may wait.
    this.#competeAgain(this.#addRestored(record, null, null), record.holdsQuota === true);
    return undefined;
  }

  /** Adopts a job of another coordinator whose last attempt an Island has presented here. */
  async adoptRunning(record: ReturningJob, assignee: Assignee, attempt: number): Promise<void> {
    const { islandGraceMs } = this.#env.config;
    if (record.islandId !== null) return this.#restoreBegun(record, assignee.accountId, islandGraceMs);
    const { input, backlog } = await this.#readStored(record);
    const job = this.#addRestored(record, input, backlog);
    this.#takeQuotaSlot(job);
    this.#beginWait(job, this.#earliestMs(islandGraceMs));
    // The coordinator that assigned the attempt died before the attempt was durable.
    if (attempt > job.attempt) this.claimAttempt(job.id, assignee, attempt);
    else this.regain(job.id, assignee);
    return undefined;
  }

  async #restoreBegun(record: ReturningJob, islandOwnerId: string | null, graceMs: number): Promise<void> {
    const { input, backlog } = await this.#readStored(record);
    const job = this.#addRestored(record, input, backlog);
    if (record.islandId === null) return this.#competeAgain(job);
    // The job gets a slot even if the account's limit was lowered since the job was accepted.
    this.#takeQuotaSlot(job);
    if (islandOwnerId === null) return undefined;
    job.assignee = { islandId: record.islandId, accountId: islandOwnerId };
    job.noteEarner();
    this.#recordActivity(job);
    // The Island may have the result even after the limit, and gets the grace period to send it.
    const earliestMs = this.#earliestMs(graceMs);
    if (job.state === "running") return this.#beginRun(job, earliestMs);
    return this.#beginWait(job, earliestMs);
  }

  /** Reads the stored input and feed progress. The feed itself is read on demand. */
  async #readStored({ id, attempt }: ActiveJobRecord) {
    const { jobs } = this.#store;
    const progress = await jobs.feedProgress(id, attempt);
    const input = await jobs.input(id);
    return { input, backlog: { progress, read: () => jobs.feed(id) } };
  }

  #addRestored(record: ReturningJob, input: JobInput | null, backlog: Backlog | null): MutableJob {
    const job = this.#add(new MutableJob(record, backlog));
    job.lastSeq = backlog?.progress.lastSeq ?? 0;
    job.durableSeq = job.lastSeq;
    if (record.handover !== undefined) job.applyHandover(record.handover);
    // The Cargo is null if the account may not run it now.
    job.cargo = this.#catalog.find(record.slug, record.accountId) ?? null;
    if (input !== null) this.#learnTraits(job, input);
    return job;
  }

  /** Adds a job to the competition for Islands. A batch job without an attempt waits for a quota slot first. */
  #competeAgain(job: MutableJob, holdsQuota = false): void {
    if (job.batchId !== null && job.attempt === 0 && !holdsQuota) return;
    this.#takeQuotaSlot(job);
    this.#beginCompeting(job);
  }

  #earliestMs(graceMs: number): number {
    return this.#env.clock.now() + graceMs + REPORT_MARGIN_MS;
  }

  /**
   * Cancels restored client-bound jobs that have had no reader by the end of the grace period: the connections of their
   * clients are gone. The grace period starts again if readers could not connect.
   */
  awaitReaders(jobIds: readonly string[]): void {
    if (jobIds.length === 0) return;
    for (const id of jobIds) this.#unread.add(id);
    const { clock, config } = this.#env;
    const sinceMs = clock.monotonicMs();
    const limit = clock.schedule(config.islandGraceMs, () => {
      this.#readerLimits.delete(limit);
      if (this.#couldReadersCome(sinceMs)) this.#cancelUnread(jobIds);
      else this.awaitReaders(jobIds.filter((id) => this.#unread.has(id)));
    });
    this.#readerLimits.add(limit);
  }

  noteReader(jobId: string): void {
    this.#unread.delete(jobId);
  }

  #cancelUnread(jobIds: readonly string[]): void {
    for (const id of jobIds) {
      const job = this.#jobs.get(id);
      if (this.#unread.delete(id) && job?.hasEnded === false && job.feed.readers === 0) this.stop(id);
    }
  }

  // ---- Transfers to another coordinator. The callers store the new owner

  /** Excludes waiting jobs from the competition until {@link endMove}. Returns the ids of the jobs that may move. */
  beginMove(jobIds: readonly string[]): string[] {
    const moving = jobIds
      .flatMap((id) => this.#jobs.get(id) ?? [])
      .filter((job) => job.state === "pending" && job.stored === null && !job.isMoving);
    for (const job of moving) {
      job.isMoving = true;
      this.#emit({ type: "job_withdrawn", job });
    }
    return moving.map(({ id }) => id);
  }

  handoverStatesOf(jobIds: readonly string[]): HandoverState[] {
    return jobIds.flatMap((jobId) => {
      const { failedOn, final, trace } = this.#jobs.get(jobId) ?? { failedOn: [], final: null, trace: null };
      if (failedOn.length === 0 && final === null && trace === null) return [];
      return [{ jobId, failedOn, final, ...(trace === null ? {} : { trace }) }];
    });
  }

  /** Records the job's trace, which continues at its next owner. Ignores unknown jobs. */
  noteTrace(jobId: string, trace: string): void {
    const job = this.#jobs.get(jobId);
    if (job !== undefined) job.trace = trace;
  }

  /** Ends a move. `toId`: the new owner; null if the job stays and competes again. Ignores unknown jobs. */
  endMove(jobId: string, toId: string | null): void {
    const job = this.#jobs.get(jobId);
    if (job?.isMoving !== true) return undefined;
    job.isMoving = false;
    if (toId !== null) return this.#drop(job, toId);
    // A parked job keeps waiting for its quota slot.
    if (job.state !== "pending" || !job.holdsQuota) return undefined;
    if (!this.#hasCargo(job)) return void this.failWithoutCargo(job.id);
    return this.#compete(job);
  }

  /** Drops a job that another coordinator has. Ignores a job that is unknown, has ended, or is being stored. */
  drop(jobId: string, ownerId: string | null = null): void {
    const job = this.#jobs.get(jobId);
    // The write of a job's end detects the new owner.
    if (job !== undefined && job.stored === null && !job.hasEnded) this.#drop(job, ownerId);
  }

  // ---- Ends

  /**
   * Handles a Cargo that was added, changed or removed. Without the Cargo, pending jobs fail, and jobs of Islands get
   * no other attempt. After a change, jobs keep their version; if that version is approved now, waiting jobs compete
   * for more Islands.
   */
  cargoChanged(slug: string): void {
    const isGone = this.#catalog.known(slug) === undefined;
    for (const job of this.#jobs.values()) {
      if (job.slug !== slug || job.state !== "pending" || job.stored !== null) continue;
      const isApproved = job.cargo !== null && this.#catalog.approvedForm(job.cargo) !== job.cargo;
      if (isGone) void this.failWithoutCargo(job.id);
      // A parked job competes only when it is admitted.
      else if (isApproved && job.holdsQuota) this.#compete(job);
    }
  }

  /** Cancels a job. Resolves when the end is durable. @throws {NotOwnerError} if another coordinator has the job. */
  cancel(jobId: string): Promise<void> {
    const job = this.#require(jobId);
    this.stop(jobId);
    return this.#untilEnded(job);
  }

  /** Cancels a job, without waiting until the end is durable. */
  stop(jobId: string): void {
    void this.#stop(this.#require(jobId), "cancelled", { event: "cancel" });
  }

  /** Cancels the jobs of a deleted account. Resolves when the ends are durable, or other coordinators have the jobs. */
  async cancelAll(accountId: string): Promise<void> {
    const own = [...this.list()].filter((job) => job.accountId === accountId);
    for (const { id, hasEnded } of own) if (!hasEnded) this.stop(id);
    await this.settled(own);
  }

  /** Ends a job that did not start in time. `reason`: why the job waited, for the client. */
  expireWait(jobId: string, reason: string | null): Promise<void> {
    const job = this.#require(jobId);
    if (job.final !== null) return this.#endUnconfirmed(job, job.final);
    const message = `${describeWait(job)}${reason === null ? "" : `: ${reason}`}`;
    const error: JobError = { code: "wait_timeout", message, retryable: true };
    return this.#stop(job, "timeout", { event: "expire", error });
  }

  /** Ends a waiting job that no Island can run. `reason`: what the Islands lack, for the client. */
  refuseWait(jobId: string, reason: string): Promise<void> {
    const job = this.#require(jobId);
    if (job.final !== null) return this.#endUnconfirmed(job, job.final);
    const message = `No Island can run this job: ${reason}`;
    return this.#end(job, { event: "fail", error: { code: "no_island_fits", message, retryable: false } });
  }

  #endUnconfirmed(job: MutableJob, { islandId, error }: NonNullable<MutableJob["final"]>): Promise<void> {
    const isPaid = job.earner !== null && job.earner.islandId !== islandId;
    return this.#end(job, { event: error.code === "run_timeout" ? "expire" : "fail", error, isPaid });
  }

  /** Resolves when the ends of these jobs (default: of all) are durable, or other coordinators have them. */
  async settled(jobs: Iterable<ActiveJob> = this.#jobs.values()): Promise<void> {
    const ending = [...jobs].flatMap(({ id, hasEnded }) => (hasEnded ? (this.#jobs.get(id) ?? []) : []));
    await Promise.allSettled(ending.map((job) => this.#untilEnded(job)));
  }

  /** Returns a write whose failure ends the process; see `JobWrites.persist`. */
  persist<T>(write: Promise<T>): Promise<T> {
    return this.#writes.persist(write);
  }

  /** Stops all timers. Later failures of writes are not fatal: the next start restores the jobs. */
  close(): void {
    for (const job of this.#jobs.values()) job.storeNow?.();
    for (const limit of this.#readerLimits) limit.cancel();
    this.#deadlines.close();
    this.#writes.close();
  }

  // ---- The current attempt of a job. The caller has checked that the Island has it (`dispatch/attempt-fencing.ts`)

  /** Begins a new attempt on an Island, and returns the number of the attempt. */
  assign(jobId: string, assignee: Assignee): number {
    const job = this.#require(jobId);
    this.#begin(job, job.attempt + 1, assignee);
    return job.attempt;
  }

  /** Restores an attempt that an Island presents and whose assignment was not durable when the coordinator stopped. */
  claimAttempt(jobId: string, assignee: Assignee, attempt: number): void {
    const job = this.#require(jobId);
    this.#emit({ type: "job_withdrawn", job });
    if (!job.holdsQuota) {
      // The job had a quota slot before the restart. It waits for another slot only because the attempt was not stored.
      this.#takeQuotaSlot(job);
      this.#beginWait(job);
    }
    this.#begin(job, attempt, assignee);
    void this.#readInput(job);
  }

  /** Continues the last attempt of a pending job on the Island that was lost with it and has returned. */
  regain(jobId: string, assignee: Assignee): void {
    const job = this.#require(jobId);
    this.#emit({ type: "job_withdrawn", job });
    job.regain(assignee);
    this.#beginPhase(job);
    this.#emit({ type: "job_moved", job });
    void this.#writes.move(job, "regain");
  }

  /**
   * Reads the input for the Island, and loads the text that the attempt may continue. That text is durable, because a
   * crash must not lose text that the Island does not repeat.
   */
  async readForRun(jobId: string): Promise<JobInput> {
    const job = this.#require(jobId);
    const [input] = await Promise.all([this.#readInput(job), this.loadFeed(jobId)]);
    if (job.feed.hasOutput) await Promise.race([job.moved, job.untilDropped()]);
    return input;
  }

  loadFeed(jobId: string): Promise<void> {
    return this.#writes.persist(this.#require(jobId).feed.load());
  }

  accept(jobId: string): void {
    const job = this.#require(jobId);
    if (!job.isAccepted) this.noteReturn(jobId);
  }

  /** Records that the Island has the attempt, and restarts the phase limit. */
  noteReturn(jobId: string): void {
    const job = this.#require(jobId);
    job.isAccepted = true;
    this.#beginPhase(job);
  }

  /** Records the Island's work counter, which is not stored. A changed counter counts as activity. */
  noteWork(jobId: string, count: number): void {
    const job = this.#require(jobId);
    if (count === job.workCount) return;
    job.workCount = count;
    this.#recordActivity(job);
  }

  /** Records that the coordinator begins or ends the check of a result. Ignores a job that has ended. */
  noteResultCheck(jobId: string, isBegin: boolean): void {
    const job = this.#jobs.get(jobId);
    if (job !== undefined) job.isResultChecked = isBegin;
  }

  /** Ends the attempt because its phase exceeded its limit, and stops the Island's work on it. */
  expirePhase(jobId: string): Promise<void> {
    const job = this.#require(jobId);
    if (job.phase === null)
      throw new Error(`Job ${jobId} has no phase: its state is ${job.state} and no Island has it`);
    const message = describeExpiry(job.phase, this.#phaseLimitMs(job, job.phase));
    this.#emit({ type: "attempt_stopped", job, reason: "timeout" });
    return this.requeue(jobId, { code: "island_silent", message, retryable: true }, "failed");
  }

  /** Ends a job whose run exceeded its limit. A job without output gets one attempt on another Island first. */
  expireRun(jobId: string, hasOtherIsland: boolean): Promise<void> {
    const job = this.#require(jobId);
    const message = `The run took longer than its limit of ${this.runLimitMs(job) / 1_000} s`;
    const error: JobError = { code: "run_timeout", message, retryable: false };
    const mayConfirm = hasOtherIsland && job.final === null && !job.feed.hasOutput && this.mayRetry(jobId);
    if (!mayConfirm) return this.#stop(job, "timeout", { event: "expire", error });
    this.#emit({ type: "attempt_stopped", job, reason: "timeout" });
    return this.confirm(jobId, error);
  }

  start(jobId: string): void {
    const job = this.#require(jobId);
    job.start(this.#env.clock.now());
    this.#recordActivity(job);
    this.#beginRun(job);
    this.#writes.startSoon(job);
    // A chat whose end does not arrive with its start is stored while it computes. Other jobs may end within the time.
    if (job.cargo?.isChat === true && job.storeNow !== null) setImmediate(() => job.storeNow?.());
    this.#emit({ type: "job_moved", job });
  }

  notePrompt(jobId: string, prompt: PromptTokens): void {
    const job = this.#require(jobId);
    if (job.notePrompt(prompt)) this.#recordActivity(job);
  }

  /** Records that frame `seq` was received. It is not durable yet. */
  noteReceived(jobId: string, seq: number): void {
    this.#require(jobId).lastSeq = seq;
  }

  /** Records that frame `seq` was not applied. An Island that regains the attempt resends the frame. */
  noteUnapplied(jobId: string, attempt: number, seq: number): void {
    const job = this.#jobs.get(jobId);
    if (job?.attempt === attempt) job.lastSeq = Math.min(job.lastSeq, seq - 1);
  }

  /** Records that frame `seq` of an attempt is durable. Ignores an ended job and an earlier attempt. */
  noteDurable(jobId: string, attempt: number, seq: number): void {
    const job = this.#jobs.get(jobId);
    if (job?.attempt === attempt) job.durableSeq = seq;
  }

  /** Adds the output of frame `seq`. A job that exceeds its maximum output fails. */
  addOutput(jobId: string, seq: number, reported: readonly OutputItem[]): Promise<void> {
    const job = this.#require(jobId);
    const items = job.delivered.take(reported);
    const size = sizeOf(items);
    const full = this.#takeOutput(job, size);
    if (full !== null) return this.#stop(job, "cancelled", overrun(job, full));
    if (!job.feed.hasItems) job.announce("streaming");
    const { tokens: before, hasOutput: isMore, outputAttempt } = job.feed;
    const stored = this.#writes.output(job, seq, items, size);
    const nowMs = this.#env.clock.monotonicMs();
    const tokens = job.feed.tokens - before;
    this.relayedTokens += tokens;
    job.meter?.deliver(nowMs, tokens);
    if (job.feed.hasOutput) {
      job.earner = job.assignee;
      if (!isMore) this.#emit({ type: "first_output", job });
      // The end may arrive in the same tick, and then shares the commit.
      if (!isMore && job.storeNow !== null) queueMicrotask(() => job.storeNow?.());
    }
    if (outputAttempt !== job.attempt && job.feed.outputAttempt === job.attempt) {
      this.#emit({ type: "attempt_output", job });
    }
    if (job.hasProgress) job.lastActivityMs = nowMs;
    else {
      job.hasProgress = true;
      this.#beginPhase(job);
    }
    return stored;
  }

  /** Completes the job after a successful run, or fails it if the result exceeds its maximum output. */
  complete(jobId: string, { usage, timings, ...result }: RunResult): Promise<void> {
    const job = this.#require(jobId);
    const bytes = result.output === undefined ? 0 : JSON.stringify(result.output).length;
    const full = this.#takeOutput(job, { tokens: 0, bytes, memoryBytes: 0 });
    if (full !== null) return this.#end(job, overrun(job, full));
    return this.#end(job, {
      event: "complete",
      ...result,
      usage: job.delivered.bound(usage, job.feed.tokens, job.traits),
      timings: job.meter?.bounded(timings, this.#env.clock.monotonicMs()) ?? timings,
    });
  }

  /** Ends the job with a failure that another attempt would repeat. */
  fail(jobId: string, error: JobError): Promise<void> {
    return this.#end(this.#require(jobId), { event: "fail", error });
  }

  failWithoutCargo(jobId: string): Promise<void> {
    const job = this.#require(jobId);
    const message = `The Cargo "${job.slug}" is no longer available`;
    return this.#end(job, { event: "fail", error: { code: "cargo_unavailable", message, retryable: false } });
  }

  /** Returns true if another attempt may start and can continue after the delivered output. */
  mayRetry(jobId: string): boolean {
    const job = this.#require(jobId);
    return mayRetry(job, this.#env.config.maxAttempts) && this.#hasCargo(job);
  }

  /** Ends the attempt after its Island reported that no Island can do the job, which another Island must confirm. */
  confirm(jobId: string, error: JobError): Promise<void> {
    const job = this.#require(jobId);
    if (job.islandId !== null) job.final ??= { islandId: job.islandId, error };
    return this.requeue(jobId, error, "failed");
  }

  /**
   * Ends the attempt without a result. A refusal does not count as an attempt: the job competes again within its wait
   * limit. After other causes a new attempt follows if the retry policy allows it, else the job fails with `error`.
   * @param mayReturn True if the Island is away and may return with the attempt.
   */
  requeue(jobId: string, error: JobError, cause: FailureCause, mayReturn = false): Promise<void> {
    const { clock, config } = this.#env;
    const job = this.#require(jobId);
    job.storeNow?.();
    if (cause === "refused") {
      job.refusals += 1;
    } else {
      job.avoidAssignee();
      if (!mayRetry(job, config.maxAttempts)) {
        return this.#end(job, { event: "fail", error: { ...error, retryable: true } });
      }
    }
    if (!this.#hasCargo(job)) return this.failWithoutCargo(job.id);
    if (cause !== "refused") {
      job.waitDeadlineMs = Math.max(job.waitDeadlineMs, clock.now() + MIN_TIME_TO_FIND_ISLAND_MS);
    }
    this.#writes.gathered(job);
    const stored = this.#writes.move(job, "lose");
    if (cause === "refused") this.#emit({ type: "attempt_refused", job, error });
    else this.#emit({ type: "attempt_failed", job, cause, error });
    this.#leaveIsland(job);
    job.lose(mayReturn);
    this.#emit({ type: "job_moved", job });
    this.#awaitStart(job);
    // An offered job competes again once it is durable.
    if (job.stored === null) this.#compete(job);
    return stored;
  }

  #begin(job: MutableJob, attempt: number, assignee: Assignee): void {
    job.assign(attempt, assignee, new AttemptMeter(this.#env.clock.monotonicMs()));
    this.#beginPhase(job);
    this.#emit({ type: "attempt_begun", job });
    // The attempt of an offered job is stored with the job.
    if (job.stored !== null) return;
    this.#emit({ type: "job_moved", job });
    const assigned = this.#writes.move(job, "assign");
    job.assigned = assigned;
    void assigned.then(() => {
      if (job.assigned === assigned) job.assigned = null;
    });
  }

  async #readInput(job: MutableJob): Promise<JobInput> {
    await job.stored;
    const input = await this.#writes.read(job, this.#store.jobs.input(job.id));
    this.#learnTraits(job, input);
    return input;
  }

  /** Counts output of the attempt and returns null. If it exceeds a budget, counts nothing and returns the budget. */
  #takeOutput(job: MutableJob, { tokens, bytes, memoryBytes }: OutputSize): OutputOwner | "job" | "day" | null {
    const maxOutputBytes = job.traits?.maxOutputBytes ?? this.#maxOutputBytes;
    const maxTokens = job.traits?.maxTokens ?? Infinity;
    if (job.feed.tokens + tokens > maxTokens || job.outputBytes + bytes > maxOutputBytes) return "job";
    const owners = outputOwners(job.accountId, job.islandId);
    const full = this.outputBudget.fullFor(owners, memoryBytes);
    if (full !== null) return full;
    // All audits of the network belong to one account, and their output is removed at once.
    const isAudit = job.terms.reader !== null;
    if (!isAudit && this.#dailyStorage.take(job.accountId, bytes) > 0) return "day";
    this.outputBudget.add(owners, memoryBytes);
    job.outputBytes += bytes;
    job.memoryBytes += memoryBytes;
    job.attemptMemoryBytes += memoryBytes;
    return null;
  }

  #leaveIsland(job: MutableJob): void {
    if (job.islandId !== null) this.outputBudget.add([["island", job.islandId]], -job.attemptMemoryBytes);
    job.attemptMemoryBytes = 0;
  }

  // ---- Shared by the commands

  #emit(event: JobRegistryEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Returns the job of a command. @throws for an unknown id, and once the job's end is durable: this is a bug. */
  #require(jobId: string): MutableJob {
    const job = this.#jobs.get(jobId);
    if (job === undefined) throw new Error(`Job ${jobId} is not active`);
    return job;
  }

  #add(job: MutableJob): MutableJob {
    this.#jobs.set(job.id, job);
    this.outputBudget.add(outputOwners(job.accountId, null), job.memoryBytes);
    return job;
  }

  #forget(job: MutableJob): void {
    this.#jobs.delete(job.id);
    this.#deadlines.clear(job.id);
  }

  #hasCargo(job: MutableJob): boolean {
    return this.#catalog.find(job.slug, job.accountId) !== undefined;
  }

  #learnTraits(job: MutableJob, input: JobInput): void {
    job.traits ??= traitsOf(input, this.cargoOf(job), this.#maxOutputBytes, job.accountId);
  }

  #admit(job: MutableJob): void {
    job.stored = null;
    this.#emit({ type: "job_stored", job });
    if (job.ending !== null) return this.#emit({ type: "job_ended", job, ending: job.ending });
    if (job.state === "pending") return this.#beginCompeting(job);
    job.input = null;
    // The run limit of an attempt that has started is already set.
    return job.state === "running" ? undefined : this.#beginWait(job);
  }

  /** Takes a quota slot for the job, even if the account exceeds its limit. */
  #takeQuotaSlot(job: MutableJob): void {
    this.#jobQuota.add(job.accountId);
    job.holdsQuota = true;
  }

  #beginCompeting(job: MutableJob): void {
    // The Cargo may have been removed during the commit, the wait for a quota slot, or a restart.
    if (!this.#hasCargo(job)) return void this.failWithoutCargo(job.id);
    this.#beginWait(job);
    this.#compete(job);
  }

  /** Lets a pending job compete for Islands. The job may be assigned before this method returns. */
  #compete(job: MutableJob): void {
    if (job.isMoving) return;
    if (job.cargo !== null) job.cargo = this.#catalog.approvedForm(job.cargo);
    this.#emit({ type: "job_waiting", job });
    job.input = null;
  }

  /** Starts the wait limit. The time that a job of a batch waited for a quota slot does not count. */
  #beginWait(job: MutableJob, earliestMs = 0): void {
    if (job.batchId !== null) {
      job.waitsSinceMs = this.#env.clock.now();
      job.waitDeadlineMs = job.waitsSinceMs + (this.cargoOf(job)?.waitLimitMs ?? DEFAULT_WAIT_LIMIT_MS);
    }
    this.#awaitStart(job, earliestMs);
  }

  /** Sets the timer of the wait limit, at `earliestMs` (ms since the epoch) or later. */
  #awaitStart(job: MutableJob, earliestMs = 0): void {
    job.waitDeadlineMs = Math.max(job.waitDeadlineMs, earliestMs);
    this.#deadlines.set(job.id, job.waitDeadlineMs, () => this.#emit({ type: "wait_limit_passed", job }));
  }

  /** Sets the timer of the run limit, at `earliestMs` (ms since the epoch) or later. */
  #beginRun(job: MutableJob, earliestMs = 0): void {
    const deadlineMs = Math.max((job.startedAtMs ?? this.#env.clock.now()) + this.runLimitMs(job), earliestMs);
    this.#deadlines.set(job.id, deadlineMs, () => this.#emit({ type: "run_limit_passed", job }));
  }

  #recordActivity(job: MutableJob): void {
    job.lastActivityMs = this.#env.clock.monotonicMs();
  }

  /** Starts a new phase of the current attempt. The phase limit counts from now. */
  #beginPhase(job: MutableJob): void {
    this.#recordActivity(job);
    this.#deadlines.limitChanged(job.id);
  }

  /** Returns the limit of a phase, in ms. Infinity while a Cargo runs that streams no tokens and may be silent. */
  #phaseLimitMs(job: MutableJob, phase: AttemptPhase): number {
    const cargo = this.cargoOf(job);
    const own = cargo?.phaseLimitsMs?.[phase];
    if (own !== undefined) return own;
    const isRunning = phase === "first_output" || phase === "silence";
    return !isRunning || cargo?.isChat === true ? this.#env.config[PHASE_LIMITS[phase]] : Infinity;
  }

  #phaseLeftMs(job: MutableJob): number {
    const { phase, lastActivityMs } = job;
    if (phase === null) return Infinity;
    return lastActivityMs + this.#phaseLimitMs(job, phase) - this.#env.clock.monotonicMs();
  }

  /** Handles a passed phase limit, unless the timer is so late that this process was stalled. */
  #passPhase(job: MutableJob): void {
    const lateMs = -this.#phaseLeftMs(job);
    this.#recordActivity(job);
    if (lateMs < MAX_LATE_MS && !job.isResultChecked) this.#emit({ type: "phase_limit_passed", job });
  }

  /** Forgets a job that another coordinator has; see `job_dropped`. */
  #drop(job: MutableJob, ownerId: string | null): void {
    if (job.isDropped) return;
    job.drop();
    this.#forget(job);
    this.#writes.forget(job);
    if (job.state === "pending") this.#emit({ type: "job_withdrawn", job });
    this.#leaveIsland(job);
    this.outputBudget.add(outputOwners(job.accountId, null), -job.memoryBytes);
    this.#emit({ type: "job_dropped", job, feed: job.feed, ownerId });
    if (job.holdsQuota) this.#jobQuota.leave(job.accountId);
  }

  /** Resolves when the end is durable. @throws {NotOwnerError} if another coordinator has the job. */
  async #untilEnded(job: MutableJob): Promise<void> {
    await Promise.race([job.settled, job.untilDropped()]);
    if (job.isDropped) throw new NotOwnerError(job.id, null);
  }

  #stop(job: MutableJob, reason: "cancelled" | "timeout", outcome: Outcome): Promise<void> {
    const ended = this.#end(job, outcome);
    if (job.islandId !== null) this.#emit({ type: "attempt_stopped", job, reason });
    return ended;
  }

  /** Ends a job. Resolves when the end is durable; readers see the end only then. @throws {IllegalTransitionError} */
  #end(job: MutableJob, outcome: Outcome): Promise<void> {
    const wasPending = job.state === "pending";
    job.storeNow?.();
    job.apply(outcome.event);
    const atMs = this.#env.clock.now();
    job.endedAtMs = atMs;
    this.#deadlines.clear(job.id);
    if (wasPending) this.#emit({ type: "job_withdrawn", job });
    const { id } = job;
    const ending = this.#endingOf(job, outcome, atMs);
    this.#leaveIsland(job);
    job.settled = this.#writes.end(job, ending, ({ dueWebhookIds, output }) => {
      this.#jobs.delete(id);
      this.outputBudget.add(outputOwners(job.accountId, null), -job.memoryBytes);
      if (job.holdsQuota) this.#jobQuota.leave(job.accountId);
      const { chargeMicro: creditsUsedMicro } = ending;
      job.feed.end(feedEndingOf({ ...outcome, ...ending, output, id, state: job.state, creditsUsedMicro }));
      for (const webhookId of dueWebhookIds) this.#onWebhookDue(webhookId, job.accountId);
    });
    if (ending.audit?.verdict === "due") this.#emit({ type: "audit_due", job, audit: ending.audit });
    // The end of an offered job is announced once the job is stored.
    if (job.stored === null) this.#emit({ type: "job_ended", job, ending });
    else job.ending = ending;
    return job.settled;
  }

  #endingOf(job: MutableJob, outcome: Outcome, atMs: number): JobEnding {
    const { accountId, slug, earner } = job;
    const verdict = this.#planAudit(job);
    const { earnedMicro, ...settled } = settle({
      event: outcome.event,
      accountId,
      priceMicro: job.priceMicro,
      rates: job.rates,
      hasOutput: job.feed.hasVisible || isVisibleOutput(outcome.output),
      isFaultOfIsland: isFaultOfIsland(outcome),
      deliveredTokens: job.feed.tokens,
      readTokens: chargedPromptOf(job, outcome.usage),
      networkFee: this.#env.config.networkFee,
      ownerAccountId: earner?.accountId ?? null,
      isEarningHeld: verdict !== null,
    });
    const isAudited = verdict !== null && earner !== null && settled.chargeMicro > 0;
    return {
      jobId: job.id,
      event: outcome.event,
      attempt: job.attempt,
      atMs,
      output: outcome.output,
      usage: outcome.usage ?? deliveredUsage(job.feed, job.prompt),
      finishReason: outcome.finishReason ?? null,
      timings: outcome.timings ?? null,
      error: outcome.error ?? null,
      ...settled,
      ...(isAudited && {
        audit: {
          ownerAccountId: earner.accountId,
          slug,
          clientAccountId: accountId,
          chargedMicro: settled.chargeMicro,
          earnedMicro,
          earning: "held",
          verdict,
          mayAudit: job.terms.audit !== "never",
        },
      }),
    };
  }
}

/** Returns the failure of a job whose output exceeds a budget. */
function overrun(job: MutableJob, full: OutputOwner | "job" | "day"): Outcome {
  job.isOverrun = full === "job";
  const limit = job.traits === null ? "" : ` (${formatBytes(job.traits.maxOutputBytes)})`;
  const message = full === "job" ? `The job's output exceeds its maximum${limit}` : TOO_LARGE[full];
  return {
    event: "fail",
    error: { code: "output_too_large", message, retryable: true },
    isPaid: full !== "job",
  };
}

const TOO_LARGE: Readonly<Record<OutputOwner | "day", string>> = {
  day: "The account has reached its daily limit for stored inputs and outputs",
  account: "The output of the account's unfinished jobs exceeds the memory limit per account",
  island: "The output of the Island's jobs exceeds the memory limit per Island",
  coordinator: "The coordinator's memory for output is full, and the account has used its share",
};

function describeExpiry(phase: AttemptPhase, limitMs: number): string {
  const limit = `${limitMs / 1_000} s`;
  switch (phase) {
    case "accept":
      return `The Island did not accept the job within ${limit}`;
    case "start":
      return `The Island accepted the job but did not begin it within ${limit}`;
    case "first_output":
      return `The Island began the job but produced no output within ${limit}`;
    case "silence":
      return `The Island produced no output for ${limit}`;
    default:
      return phase satisfies never;
  }
}

function describeWait({ state, attempt, refusals }: Pick<ActiveJob, "state" | "attempt" | "refusals">): string {
  const ended = attempt - refusals - (state === "queued" ? 1 : 0);
  if (ended === 0) return "No Island began the job within its wait limit";
  const attempts = ended === 1 ? "1 attempt" : `${ended} attempts`;
  return `${attempts} of the job ended without a result, and no Island began another in time`;
}
