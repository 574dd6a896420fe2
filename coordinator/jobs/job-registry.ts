import type { AttemptPhase, PhaseLimits } from "../../shared/attempt-phase.ts";
import type { Timer } from "../../shared/clock.ts";
import type { JobError } from "../../shared/errors.ts";
import type { OutputItem, PromptTokens } from "../../shared/output.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { DEFAULT_RUN_LIMIT_MS, DEFAULT_WAIT_LIMIT_MS } from "../catalog/cargo-fields.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import type { MemoryBudgets } from "../config/memory-settings.ts";
import { settle } from "../credits/settle.ts";
import type { Env } from "../env.ts";
import type { DailyStorage } from "../quotas/daily-storage.ts";
import type { JobQuota } from "../quotas/job-quota.ts";
import { outputBudget, type OutputBudget, type OutputOwner, outputOwners } from "../quotas/output-budget.ts";
import type { FailureCause } from "../scheduler/scheduler.ts";
import { NotOwnerError } from "../store/cluster-store.ts";
import type { ActiveJobRecord, JobEnding, JobInput, SubmittedJob } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { type ActiveJob, type Assignee, type HandoverState, MutableJob, type ReturningJob } from "./active-job.ts";
import { AttemptMeter } from "./attempts/attempt-meter.ts";
import { openDeadlines, type Deadlines } from "./attempts/deadlines.ts";
import { mayRetry, MIN_TIME_TO_FIND_ISLAND_MS } from "./attempts/retry-policy.ts";
import type { Backlog } from "./feed.ts";
import {
  deliveredUsage,
  feedEndingOf,
  isEmptyOutput,
  isFaultOfIsland,
  type Outcome,
  promptCostOf,
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

/** A job that is being stored. */
interface Offer {
  /** The Island that got its first attempt; null if no fitting one had a free slot. */
  readonly islandId: string | null;
  /** The job is durable: it competes, or its Island hears of it. */
  accept(): void;
  /** The job could not be stored, or is the repeat of another one. */
  withdraw(): void;
}

/** A job before its first attempt. */
export const NEW_JOB = {
  state: "pending",
  attempt: 0,
  refusals: 0,
  islandId: null,
  startedAtMs: null,
} as const;

/** A timer later than this shows that this process stood still: what Islands said meanwhile is not read yet, so the phase begins anew. */
const MAX_LATE_MS = 1_000;
/** Time to send what it kept, for an Island that comes back at the end of its grace. */
const REPORT_MARGIN_MS = 5_000;

/**
 * Owner of every unfinished job. Everything that changes a job is a command here: it acts in memory in one turn of the event loop,
 * stores what it did, and tells subscribers. A promise resolves when what was done is durable. Others see jobs as {@link ActiveJob}.
 */
export class JobRegistry {
  /** Bytes of output of unfinished jobs in memory. */
  readonly outputBudget: OutputBudget;
  /** Model tokens relayed since the start, also those of jobs that have not ended. */
  relayedTokens = 0;
  readonly #env: JobEnv;
  readonly #store: Pick<Store, "jobs">;
  readonly #catalog: Catalog;
  readonly #jobQuota: JobQuota;
  readonly #dailyStorage: DailyStorage;
  /** Output that a job may make if neither its input nor its Cargo says how much. */
  readonly #maxOutputBytes: number;
  /** For Cargos that set none. */
  readonly #phaseLimits: PhaseLimits;
  readonly #onWebhookDue: (webhookId: string, accountId: string) => void;
  readonly #couldReadersCome: (sinceMs: number) => boolean;
  /** By id. A job leaves when its end is durable. */
  readonly #jobs = new Map<string, MutableJob>();
  readonly #writes: JobWrites;
  readonly #deadlines: Deadlines;
  readonly #listeners = new Set<(event: JobRegistryEvent) => void>();
  /** See {@link awaitReaders}. */
  readonly #unread = new Set<string>();
  readonly #readerLimits = new Set<Timer>();

  /**
   * @param onWebhookDue called when the end of a job, now durable, makes a webhook due.
   * @param couldReadersCome whether readers at other coordinators could have come at any time since `sinceMs`, by the monotonic clock.
   */
  constructor(
    env: JobEnv,
    store: Pick<Store, "jobs" | "cluster">,
    catalog: Catalog,
    jobQuota: JobQuota,
    dailyStorage: DailyStorage,
    memory: Parameters<typeof outputBudget>[0] & Pick<MemoryBudgets, "maxOutputBytes">,
    onWebhookDue: (webhookId: string, accountId: string) => void,
    couldReadersCome: (sinceMs: number) => boolean,
  ) {
    const { acceptLimitMs, startLimitMs, firstOutputLimitMs, silenceLimitMs } = env.config;
    this.#env = env;
    this.#store = store;
    this.#catalog = catalog;
    this.#jobQuota = jobQuota;
    this.#dailyStorage = dailyStorage;
    this.#maxOutputBytes = memory.maxOutputBytes;
    this.#phaseLimits = {
      accept: acceptLimitMs,
      start: startLimitMs,
      first_output: firstOutputLimitMs,
      silence: silenceLimitMs,
    };
    this.#onWebhookDue = onWebhookDue;
    this.#couldReadersCome = couldReadersCome;
    this.outputBudget = outputBudget(memory);
    this.#deadlines = openDeadlines(
      env.clock,
      (jobId) => this.#phaseLeftMs(this.#require(jobId)),
      (jobId) => this.#passPhase(this.#require(jobId)),
    );
    this.#writes = writeJobs(env, store, (job, ownerId) => this.#drop(job, ownerId));
  }

  /** Undefined for an unknown id and for a job whose end is durable. */
  get(jobId: string): ActiveJob | undefined {
    return this.#jobs.get(jobId);
  }

  /** The fence: the unfinished job, if `attempt` is its present one and this Island has it; else undefined. */
  present(
    islandId: string,
    { jobId, attempt }: { readonly jobId: string; readonly attempt: number },
  ): ActiveJob | undefined {
    const job = this.#jobs.get(jobId);
    if (job === undefined || job.hasEnded) return undefined;
    return job.attempt === attempt && job.islandId === islandId ? job : undefined;
  }

  /** Durable ones, oldest first. */
  *list(): Iterable<ActiveJob> {
    for (const job of this.#jobs.values()) if (job.stored === null) yield job;
  }

  /**
   * What the job runs: the Cargo as it was when the job was accepted, or at the last restart. Undefined when it was gone then and is still
   * gone.
   */
  cargoOf({ cargo, slug }: ActiveJob): CatalogEntry | undefined {
    return cargo ?? this.#catalog.known(slug);
  }

  runLimitMs(job: ActiveJob): number {
    return Math.min(this.cargoOf(job)?.runLimitMs ?? DEFAULT_RUN_LIMIT_MS, this.#env.config.maxRunMs);
  }

  /** Calls `listener` for each event, synchronously. */
  subscribe(listener: (event: JobRegistryEvent) => void): void {
    this.#listeners.add(listener);
  }

  // ---- New jobs

  /**
   * Takes in a new job that is stored now, and a place of its account. An Island with a free slot gets it at once, so that job and attempt
   * are one commit; the Island is told after it. One of the two functions of the offer must follow.
   * @param maxJobs most unfinished jobs that the account may have. @throws {RateLimitedError} if it has as many already.
   */
  offer(submitted: SubmittedJob, cargo: CatalogEntry, maxJobs: number): Offer {
    const { accountId, input } = submitted;
    this.#jobQuota.enter(accountId, maxJobs);
    const job = this.#add(new MutableJob({ ...submitted, ...NEW_JOB, batchId: null }));
    job.hasPlace = true;
    job.input = input;
    job.cargo = cargo;
    this.#learnTraits(job, input);
    const { promise, resolve } = Promise.withResolvers<void>();
    job.stored = promise;
    job.isOffered = true;
    if (this.#hasCargo(job)) this.#emit({ type: "job_offered", job });
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
      withdraw: () => {
        // What waits for its storage never goes on.
        this.#forget(job);
        this.#emit({ type: "offer_withdrawn", job });
        this.#jobQuota.leave(accountId);
      },
    };
  }

  /** Takes in a new, durable job of a batch. It waits for its account's place until {@link admitParked}. */
  park(record: ActiveJobRecord, cargo: CatalogEntry): ActiveJob {
    const job = this.#add(new MutableJob(record));
    job.cargo = cargo;
    this.#emit({ type: "job_stored", job });
    return job;
  }

  /** Gives a parked job a place, whatever the limit, and lets it compete for Islands. */
  admitParked(jobId: string): void {
    const job = this.#require(jobId);
    this.#takePlace(job);
    this.#beginCompeting(job);
  }

  // ---- Jobs from storage: after a restart, and those that another coordinator had

  /**
   * Takes in a job that was unfinished when the coordinator last stopped, or that another coordinator had. One that an Island has waits
   * for that Island to come back; a job of a batch that never had an attempt is parked, unless the store knows that it has a place; the
   * others compete.
   * @param islandOwnerId Account of the Island that has the job; null when no Island has it, and when that one is not known any more:
   *   then the caller gives the attempt up.
   * @param graceMs how long its Island may take to come back; absent: that of a restart.
   */
  restore(
    record: ReturningJob,
    islandOwnerId: string | null,
    graceMs: number = this.#env.config.restartGraceMs,
  ): Promise<void> | undefined {
    if (record.attempt > 0) return this.#restoreBegun(record, islandOwnerId, graceMs);
    // It has no feed. Without a promise, because 100,000 may wait.
    this.#competeAgain(this.#addRestored(record, null, null), record.hasPlace === true);
    return undefined;
  }

  /** Takes in a job of another coordinator whose last attempt an Island has brought here: it has the job, or has it again. */
  async adoptRunning(record: ReturningJob, assignee: Assignee, attempt: number): Promise<void> {
    const { islandGraceMs } = this.#env.config;
    if (record.islandId !== null) return this.#restoreBegun(record, assignee.accountId, islandGraceMs);
    const { input, backlog } = await this.#readStored(record);
    const job = this.#addRestored(record, input, backlog);
    this.#takePlace(job);
    this.#beginWait(job, this.#earliestMs(islandGraceMs));
    // The coordinator that gave it out died before that was durable.
    if (attempt > job.attempt) this.claimAttempt(job.id, assignee, attempt);
    else this.regain(job.id, assignee);
    return undefined;
  }

  async #restoreBegun(record: ReturningJob, islandOwnerId: string | null, graceMs: number): Promise<void> {
    const { input, backlog } = await this.#readStored(record);
    const job = this.#addRestored(record, input, backlog);
    if (record.islandId === null) return this.#competeAgain(job);
    // Without a look at the limit, which may be lower now than when the job was accepted.
    this.#takePlace(job);
    if (islandOwnerId === null) return undefined;
    job.assignee = { islandId: record.islandId, accountId: islandOwnerId };
    job.noteEarner();
    this.#recordActivity(job);
    // The Island may have the result, even after the limit: it gets the grace to adoptRunning it.
    const earliestMs = this.#earliestMs(graceMs);
    if (job.state === "running") return this.#beginRun(job, earliestMs);
    return this.#beginWait(job, earliestMs);
  }

  /** The feed is read when somebody asks for it. */
  async #readStored({
    id,
    attempt,
  }: ActiveJobRecord): Promise<{ readonly input: JobInput; readonly backlog: Backlog }> {
    const { jobs } = this.#store;
    const progress = await jobs.feedProgress(id, attempt);
    const input = await jobs.input(id);
    return { input, backlog: { progress, read: () => jobs.feed(id) } };
  }

  #addRestored(record: ReturningJob, input: JobInput | null, backlog: Backlog | null): MutableJob {
    const job = this.#add(new MutableJob(record, backlog));
    job.lastSeq = backlog?.progress.lastSeq ?? 0;
    job.durableSeq = job.lastSeq;
    if (record.handover !== undefined) job.remember(record.handover);
    // Undefined if the account may not run it now: its definition or approval may have changed.
    job.cargo = this.#catalog.find(record.slug, record.accountId) ?? null;
    if (input !== null) this.#learnTraits(job, input);
    return job;
  }

  /** A job of a batch that never had an attempt is parked, unless the store knows that it has a place. */
  #competeAgain(job: MutableJob, hasPlace = false): void {
    if (job.batchId !== null && job.attempt === 0 && !hasPlace) return;
    this.#takePlace(job);
    this.#beginCompeting(job);
  }

  #earliestMs(graceMs: number): number {
    return this.#env.clock.now() + graceMs + REPORT_MARGIN_MS;
  }

  /**
   * Takes note of restored jobs whose clients waited on a connection, which is gone. They are cancelled, as of clients that leave,
   * unless a reader of theirs comes within the grace, or has come before. A grace in which readers could not come begins again.
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

  /** Somebody reads the job's output. */
  noteReader(jobId: string): void {
    this.#unread.delete(jobId);
  }

  #cancelUnread(jobIds: readonly string[]): void {
    for (const id of jobIds) {
      const job = this.#jobs.get(id);
      if (this.#unread.delete(id) && job?.hasEnded === false && job.feed.readers === 0) this.stop(id);
    }
  }

  // ---- Jobs that go to another coordinator. What these commands say has happened in storage, or is about to

  /** Takes waiting jobs out of the competition, until {@link endMove}. Returns those that may move: durable ones that wait. */
  beginMove(jobIds: readonly string[]): string[] {
    const jobs = jobIds.flatMap((id) => this.#jobs.get(id) ?? []);
    const moving = jobs.filter((job) => job.state === "pending" && job.stored === null && !job.isMoving);
    for (const job of moving) {
      job.isMoving = true;
      this.#emit({ type: "job_withdrawn", job });
    }
    return moving.map(({ id }) => id);
  }

  /** What is not stored of these jobs. Those of which there is nothing are left out. */
  handoverStatesOf(jobIds: readonly string[]): HandoverState[] {
    return jobIds.flatMap((jobId) => {
      const { failedOn, final, trace } = this.#jobs.get(jobId) ?? { failedOn: [], final: null, trace: null };
      if (failedOn.length === 0 && final === null && trace === null) return [];
      return [{ jobId, failedOn, final, ...(trace === null ? {} : { trace }) }];
    });
  }

  /** The job's trace, which goes on at its next owner. Ignored for a job that is gone. */
  noteTrace(jobId: string, trace: string): void {
    const job = this.#jobs.get(jobId);
    if (job !== undefined) job.trace = trace;
  }

  /** A move is over. `toId`: who has the job now; null if it stays, and competes again. Ignored for a job that is gone. */
  endMove(jobId: string, toId: string | null): void {
    const job = this.#jobs.get(jobId);
    if (job?.isMoving !== true) return undefined;
    job.isMoving = false;
    if (toId !== null) return this.#drop(job, toId);
    // A parked one waits on.
    if (job.state !== "pending" || !job.hasPlace) return undefined;
    if (!this.#hasCargo(job)) return void this.#failWithoutCargo(job);
    return this.#compete(job);
  }

  /** Another coordinator has the job, `ownerId` if it is known which. Ignored for one that is not here, that ended, and that is being stored. */
  drop(jobId: string, ownerId: string | null = null): void {
    const job = this.#jobs.get(jobId);
    // What has ended learns it from the write of its end.
    if (job !== undefined && job.stored === null && !job.hasEnded) this.#drop(job, ownerId);
  }

  // ---- Ends

  /**
   * The Cargo with this slug is new, changed or gone. If the Cargo is gone, its pending jobs fail, and jobs that an Island has get no
   * other attempt. Otherwise each job keeps the Cargo that it was accepted for; an approval of that same Cargo counts.
   */
  cargoChanged(slug: string): void {
    const isGone = this.#catalog.known(slug) === undefined;
    for (const job of this.#jobs.values()) {
      if (job.slug !== slug || job.state !== "pending" || job.stored !== null) continue;
      const isApproved = job.cargo !== null && this.#catalog.approvedForm(job.cargo) !== job.cargo;
      if (isGone) void this.#failWithoutCargo(job);
      // A parked job competes only when it is admitted.
      else if (isApproved && job.hasPlace) this.#compete(job);
    }
  }

  /** Ends a job at its client's wish. Resolves when the end is durable. @throws {NotOwnerError} when another coordinator has the job by now. */
  cancel(jobId: string): Promise<void> {
    const job = this.#require(jobId);
    this.stop(jobId);
    return this.#untilEnded(job);
  }

  /** Like {@link cancel}, for who does not wait for it. */
  stop(jobId: string): void {
    void this.#stop(this.#require(jobId), "cancelled", { event: "cancel" });
  }

  /** Cancels every unfinished job of an account that is being deleted. Resolves when their ends are durable, or others have them. */
  async cancelAll(accountId: string): Promise<void> {
    const own = [...this.list()].filter((job) => job.accountId === accountId);
    for (const { id, hasEnded } of own) if (!hasEnded) this.stop(id);
    await this.settled(own);
  }

  /** Ends a job that did not begin in time. `reason`: why it waited, for the client; null when nobody knows. */
  expireWait(jobId: string, reason: string | null): Promise<void> {
    const job = this.#require(jobId);
    if (job.final !== null) return this.#endUnconfirmed(job, job.final);
    const message = `${describeWait(job)}${reason === null ? "" : `: ${reason}`}`;
    const error: JobError = { code: "wait_timeout", message, retryable: true };
    return this.#stop(job, "timeout", { event: "expire", error });
  }

  /** Ends a waiting job that no Island can run. `reason`: what they lack, for the client. */
  refuseWait(jobId: string, reason: string): Promise<void> {
    const job = this.#require(jobId);
    if (job.final !== null) return this.#endUnconfirmed(job, job.final);
    const message = `No Island can run this job: ${reason}`;
    return this.#end(job, { event: "fail", error: { code: "no_island_fits", message, retryable: false } });
  }

  /** No second Island confirmed what the only one that tried reported. */
  #endUnconfirmed(job: MutableJob, { islandId, error }: NonNullable<MutableJob["final"]>): Promise<void> {
    const isPaid = job.earner !== null && job.earner.islandId !== islandId;
    return this.#end(job, { event: error.code === "run_timeout" ? "expire" : "fail", error, isPaid });
  }

  /** Resolves when the ends of these jobs are durable, or another coordinator has them: of those that have ended so far, all unless told. */
  async settled(jobs: Iterable<ActiveJob> = this.#jobs.values()): Promise<void> {
    const ending = [...jobs].flatMap(({ id, hasEnded }) => (hasEnded ? (this.#jobs.get(id) ?? []) : []));
    await Promise.allSettled(ending.map((job) => this.#untilEnded(job)));
  }

  /** For work that was acted on before it is done, such as a write: if it fails, the process ends and starts again from storage. */
  persist<T>(write: Promise<T>): Promise<T> {
    return this.#writes.persist(write);
  }

  /**
   * Stops all timers. A write that fails from now on is not fatal: what is not durable by now is restored from storage at the next start.
   */
  close(): void {
    for (const limit of this.#readerLimits) limit.cancel();
    this.#deadlines.close();
    this.#writes.close();
  }

  // ---- The present attempt of a job. The caller has checked that its Island has it (`dispatch/attempt-fencing.ts`)

  /** Gives a pending job to an Island. Returns the number of the attempt. */
  assign(jobId: string, assignee: Assignee): number {
    const job = this.#require(jobId);
    this.#begin(job, job.attempt + 1, assignee);
    return job.attempt;
  }

  /** A pending job turns out to be in an Island's hands: its assignment was not durable when the coordinator last stopped. */
  claimAttempt(jobId: string, assignee: Assignee, attempt: number): void {
    const job = this.#require(jobId);
    this.#emit({ type: "job_withdrawn", job });
    if (!job.hasPlace) {
      // It had its place before the restart, and waits for another only because that was not known.
      this.#takePlace(job);
      this.#beginWait(job);
    }
    this.#begin(job, attempt, assignee);
    void this.#readInput(job);
  }

  /** The Island that was lost with the last attempt of a pending job is back and goes on with it. */
  regain(jobId: string, assignee: Assignee): void {
    const job = this.#require(jobId);
    this.#emit({ type: "job_withdrawn", job });
    job.regain(assignee);
    this.#beginPhase(job);
    this.#emit({ type: "job_moved", job });
    void this.#writes.move(job, "regain");
  }

  /** What an Island needs to run a job: its input, from storage. Afterwards the text can be read that another attempt continues. */
  async readForRun(jobId: string): Promise<JobInput> {
    const [input] = await Promise.all([this.#readInput(this.#require(jobId)), this.loadFeed(jobId)]);
    return input;
  }

  /** Afterwards the job's text can be read, also of one that was restored after a restart. */
  loadFeed(jobId: string): Promise<void> {
    return this.#writes.persist(this.#require(jobId).feed.load());
  }

  /** The Island says that it has the attempt. Ignored after the first time. */
  accept(jobId: string): void {
    const job = this.#require(jobId);
    if (!job.isAccepted) this.noteReturn(jobId);
  }

  /** The Island has come back with the attempt, whose phase begins anew. */
  noteReturn(jobId: string): void {
    const job = this.#require(jobId);
    job.isAccepted = true;
    this.#beginPhase(job);
  }

  /** What the Island reports of the work, which is neither output nor stored. It is a sign of life if `count` is another one than before. */
  noteWork(jobId: string, count: number): void {
    const job = this.#require(jobId);
    if (count === job.workCount) return;
    job.workCount = count;
    this.#recordActivity(job);
  }

  /** Gives the attempt up, as its present phase took longer than its limit, and stops the Island's work on it. */
  expirePhase(jobId: string): Promise<void> {
    const job = this.#require(jobId);
    if (job.phase === null) throw new Error(`Job ${jobId} is ${job.state}: no Island has it`);
    const message = describeExpiry(job.phase, this.#phaseLimitMs(job, job.phase));
    this.#emit({ type: "attempt_stopped", job, reason: "timeout" });
    return this.requeue(jobId, { code: "island_silent", message, retryable: true }, "failed");
  }

  /**
   * The run took longer than its limit: the job ends in `timeout`. If the client has nothing of it yet, one other Island is asked first,
   * as the Island may have done nothing either.
   */
  expireRun(jobId: string, hasOtherIsland: boolean): Promise<void> {
    const job = this.#require(jobId);
    const message = `The run took longer than its limit of ${this.runLimitMs(job) / 1_000} s`;
    const error: JobError = { code: "run_timeout", message, retryable: false };
    const mayConfirm = hasOtherIsland && job.final === null && !job.feed.hasOutput && this.mayRetry(jobId);
    if (!mayConfirm) return this.#stop(job, "timeout", { event: "expire", error });
    this.#emit({ type: "attempt_stopped", job, reason: "timeout" });
    return this.confirm(jobId, error);
  }

  /** The run began. */
  start(jobId: string): void {
    const job = this.#require(jobId);
    job.start(this.#env.clock.now());
    this.#recordActivity(job);
    this.#beginRun(job);
    this.#writes.startSoon(job);
    this.#emit({ type: "job_moved", job });
  }

  /** The Island says how much of the prompt it has read. */
  notePrompt(jobId: string, prompt: PromptTokens): void {
    const job = this.#require(jobId);
    if (job.notePrompt(prompt)) this.#recordActivity(job);
  }

  /** Numbered frame `seq` was received. It is not durable yet. */
  noteReceived(jobId: string, seq: number): void {
    this.#require(jobId).lastSeq = seq;
  }

  /** Numbered frame `seq` was received and nobody acted on it. An Island that regains the attempt sends it again, and then it counts. */
  noteUnheard(jobId: string, attempt: number, seq: number): void {
    const job = this.#jobs.get(jobId);
    if (job?.attempt === attempt) job.lastSeq = Math.min(job.lastSeq, seq - 1);
  }

  /** The last frame of an attempt, numbered `seq`, is durable. Ignored for a job that ended and for an earlier attempt. */
  noteDurable(jobId: string, attempt: number, seq: number): void {
    const job = this.#jobs.get(jobId);
    if (job?.attempt === attempt) job.durableSeq = seq;
  }

  /** Adds the output of numbered frame `seq`. A job with more output than it can have asked for ends in `failed`. */
  addOutput(jobId: string, seq: number, claimed: readonly OutputItem[]): Promise<void> {
    const job = this.#require(jobId);
    const items = job.delivered.take(claimed);
    const size = sizeOf(items);
    const full = this.#takeOutput(job, size);
    if (full !== null) return this.#failTooLarge(job, full);
    if (!job.feed.hasItems) job.announce("streaming");
    const { tokens: before, hasOutput: isMore } = job.feed;
    const stored = this.#give(job, seq, items, size);
    const nowMs = this.#env.clock.monotonicMs();
    const tokens = job.feed.tokens - before;
    this.relayedTokens += tokens;
    job.meter?.deliver(nowMs, tokens);
    if (job.feed.hasOutput) {
      job.earner = job.assignee;
      if (!isMore) this.#emit({ type: "first_output", job });
    }
    if (job.hasSpoken) job.lastSignMs = nowMs;
    else {
      job.hasSpoken = true;
      this.#beginPhase(job);
    }
    return stored;
  }

  /** The run succeeded. A job whose result is larger than its output may be ends in `failed`. */
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

  /** The attempt failed, and another would fail too. */
  fail(jobId: string, error: JobError): Promise<void> {
    return this.#end(this.#require(jobId), { event: "fail", error });
  }

  /** The Cargo is gone, so that the attempt cannot be sent. */
  failWithoutCargo(jobId: string): Promise<void> {
    return this.#failWithoutCargo(this.#require(jobId));
  }

  /** False when the present attempt is the last one: no other may begin, or continue what was delivered. */
  mayRetry(jobId: string): boolean {
    const job = this.#require(jobId);
    return mayRetry(job, this.#env.config.maxAttempts) && this.#hasCargo(job);
  }

  /** The present Island says that no Island can do the job: another one is asked. */
  confirm(jobId: string, error: JobError): Promise<void> {
    const job = this.#require(jobId);
    if (job.islandId !== null) job.final ??= { islandId: job.islandId, error };
    return this.requeue(jobId, error, "failed");
  }

  /**
   * The attempt is over without a result. A refused one is no try: the job waits on, within the wait limit that it has. After another,
   * a new attempt follows if the retry policy allows it, else the job fails with `error`.
   * @param mayReturn the Island is away, and may come back with the attempt.
   */
  requeue(jobId: string, error: JobError, cause: FailureCause, mayReturn = false): Promise<void> {
    const { clock, config } = this.#env;
    const job = this.#require(jobId);
    if (cause === "refused") {
      job.refusals += 1;
    } else {
      job.avoidAssignee();
      if (!mayRetry(job, config.maxAttempts)) {
        // The client may try again.
        return this.#end(job, { event: "fail", error: { ...error, retryable: true } });
      }
    }
    if (!this.#hasCargo(job)) return this.#failWithoutCargo(job);
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
    this.#compete(job);
    return stored;
  }

  #begin(job: MutableJob, attempt: number, assignee: Assignee): void {
    job.assign(attempt, assignee, new AttemptMeter(this.#env.clock.monotonicMs()));
    this.#beginPhase(job);
    this.#emit({ type: "attempt_begun", job });
    // It is stored with the job.
    if (job.isOffered) return;
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

  /** Counts output of the present attempt; what it may not make is not counted, and is told. */
  #takeOutput(job: MutableJob, { tokens, bytes, memoryBytes }: OutputSize): OutputOwner | "job" | "day" | null {
    const maxOutputBytes = job.traits?.maxOutputBytes ?? this.#maxOutputBytes;
    const maxTokens = job.traits?.maxTokens ?? Infinity;
    if (job.feed.tokens + tokens > maxTokens || job.outputBytes + bytes > maxOutputBytes) return "job";
    const owners = outputOwners(job.accountId, job.islandId);
    const full = this.outputBudget.fullFor(owners, memoryBytes);
    if (full !== null) return full;
    if (this.#dailyStorage.take(job.accountId, bytes) > 0) return "day";
    this.outputBudget.add(owners, memoryBytes);
    job.outputBytes += bytes;
    job.memoryBytes += memoryBytes;
    job.attemptMemoryBytes += memoryBytes;
    return null;
  }

  /** Gives output to readers and to storage. */
  #give(job: MutableJob, seq: number, items: readonly OutputItem[], { bytes, memoryBytes }: OutputSize): Promise<void> {
    if (bytes > memoryBytes) return this.#writes.largeOutput(job, seq, items, bytes);
    job.say(items);
    return this.#writes.outputSoon(job, seq, items, bytes);
  }

  #failTooLarge(job: MutableJob, full: OutputOwner | "job" | "day"): Promise<void> {
    return this.#stop(job, "cancelled", overrun(job, full));
  }

  /** The present attempt is over: its Island holds none of the output any more. */
  #leaveIsland(job: MutableJob): void {
    if (job.islandId !== null) this.outputBudget.add([["island", job.islandId]], -job.attemptMemoryBytes);
    job.attemptMemoryBytes = 0;
  }

  // ---- What the commands share

  #emit(event: JobRegistryEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** @throws for a job whose end is durable, and for an unknown id: such a command is a fault of ours. */
  #require(jobId: string): MutableJob {
    const job = this.#jobs.get(jobId);
    if (job === undefined) throw new Error(`Job ${jobId} is not active`);
    return job;
  }

  /** Takes in an unfinished job, with the output that it has. */
  #add(job: MutableJob): MutableJob {
    this.#jobs.set(job.id, job);
    this.outputBudget.add(outputOwners(job.accountId, null), job.memoryBytes);
    return job;
  }

  #forget(job: MutableJob): void {
    this.#jobs.delete(job.id);
    this.#deadlines.clear(job.id);
  }

  /** True if the job's account may still run its Cargo. */
  #hasCargo(job: MutableJob): boolean {
    return this.#catalog.find(job.slug, job.accountId) !== undefined;
  }

  /** Learns what the input says; the first call counts. */
  #learnTraits(job: MutableJob, input: JobInput): void {
    job.traits ??= traitsOf(input, this.cargoOf(job), this.#maxOutputBytes);
  }

  #admit(job: MutableJob): void {
    // Its Island was lost, and its wait passed, while it was being stored.
    if (job.hasEnded || job.isDropped) return;
    this.#emit({ type: "job_stored", job });
    if (job.state === "pending") return this.#beginCompeting(job);
    job.input = null;
    this.#recordActivity(job);
    return this.#beginWait(job);
  }

  /** Counts the job against its account's limit, without a look at the limit. */
  #takePlace(job: MutableJob): void {
    this.#jobQuota.add(job.accountId);
    job.hasPlace = true;
  }

  #beginCompeting(job: MutableJob): void {
    // Its Cargo may have gone since the job was accepted: during the commit, the wait for a place, or a restart.
    if (!this.#hasCargo(job)) return void this.#failWithoutCargo(job);
    this.#beginWait(job);
    this.#compete(job);
  }

  /** Lets a pending job compete for Islands. It may be assigned before this returns. */
  #compete(job: MutableJob): void {
    if (job.isMoving) return;
    if (job.cargo !== null) job.cargo = this.#catalog.approvedForm(job.cargo);
    this.#emit({ type: "job_waiting", job });
    job.input = null;
  }

  /** The wait of a job of a batch begins here: its wait for other jobs of its account does not count. README, "Batches". */
  #beginWait(job: MutableJob, earliestMs = 0): void {
    if (job.batchId !== null) {
      job.waitsSinceMs = this.#env.clock.now();
      job.waitDeadlineMs = job.waitsSinceMs + (this.cargoOf(job)?.waitLimitMs ?? DEFAULT_WAIT_LIMIT_MS);
    }
    this.#awaitStart(job, earliestMs);
  }

  /** Sets the wait limit's timer; it passes at `earliestMs` (ms since the epoch) or later. */
  #awaitStart(job: MutableJob, earliestMs = 0): void {
    job.waitDeadlineMs = Math.max(job.waitDeadlineMs, earliestMs);
    this.#deadlines.set(job.id, job.waitDeadlineMs, () => this.#emit({ type: "wait_limit_passed", job }));
  }

  /** Sets the run limit's timer; it passes at `earliestMs` (ms since the epoch) or later. */
  #beginRun(job: MutableJob, earliestMs = 0): void {
    const deadlineMs = Math.max((job.startedAtMs ?? this.#env.clock.now()) + this.runLimitMs(job), earliestMs);
    this.#deadlines.set(job.id, deadlineMs, () => this.#emit({ type: "run_limit_passed", job }));
  }

  /** A sign of life of the present attempt. It costs no timer. */
  #recordActivity(job: MutableJob): void {
    job.lastSignMs = this.#env.clock.monotonicMs();
  }

  /** The present attempt is in another phase, whose limit counts from now. */
  #beginPhase(job: MutableJob): void {
    this.#recordActivity(job);
    this.#deadlines.limitChanged(job.id);
  }

  /** Longest time of a phase of the job without a sign of life. A Cargo that streams no tokens may be silent as long as it may run. */
  #phaseLimitMs(job: MutableJob, phase: AttemptPhase): number {
    const cargo = this.cargoOf(job);
    const own = cargo?.phaseLimitsMs?.[phase];
    if (own !== undefined) return own;
    const isRunning = phase === "first_output" || phase === "silence";
    return !isRunning || cargo?.isChat === true ? this.#phaseLimits[phase] : Infinity;
  }

  #phaseLeftMs(job: MutableJob): number {
    const { phase, lastSignMs } = job;
    if (phase === null) return Infinity;
    return lastSignMs + this.#phaseLimitMs(job, phase) - this.#env.clock.monotonicMs();
  }

  #passPhase(job: MutableJob): void {
    const lateMs = -this.#phaseLeftMs(job);
    this.#recordActivity(job);
    if (lateMs < MAX_LATE_MS) this.#emit({ type: "phase_limit_passed", job });
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
    if (job.hasPlace) this.#jobQuota.leave(job.accountId);
  }

  /** Resolves when the end of the job is durable. @throws {NotOwnerError} when another coordinator has the job by now. */
  async #untilEnded(job: MutableJob): Promise<void> {
    await Promise.race([job.settled, job.untilDropped()]);
    if (job.isDropped) throw new NotOwnerError(job.id, null);
  }

  #stop(job: MutableJob, reason: "cancelled" | "timeout", outcome: Outcome): Promise<void> {
    const ended = this.#end(job, outcome);
    if (job.islandId !== null) this.#emit({ type: "attempt_stopped", job, reason });
    return ended;
  }

  #failWithoutCargo(job: MutableJob): Promise<void> {
    const message = `The Cargo "${job.slug}" is not available any more`;
    return this.#end(job, { event: "fail", error: { code: "cargo_unavailable", message, retryable: false } });
  }

  /** Ends a job for good. Readers see the end when it is durable; the promise resolves then. @throws {IllegalTransitionError} */
  #end(job: MutableJob, outcome: Outcome): Promise<void> {
    const wasPending = job.state === "pending";
    job.apply(outcome.event);
    const atMs = this.#env.clock.now();
    job.endedAtMs = atMs;
    this.#deadlines.clear(job.id);
    if (wasPending) this.#emit({ type: "job_withdrawn", job });
    const { id } = job;
    const ending = this.#endingOf(job, outcome, atMs);
    this.#leaveIsland(job);
    const ended = this.#writes.end(job, ending).then(({ dueWebhookIds, output }) => {
      this.#jobs.delete(id);
      this.outputBudget.add(outputOwners(job.accountId, null), -job.memoryBytes);
      if (job.hasPlace) this.#jobQuota.leave(job.accountId);
      const { chargeMicro: creditsUsedMicro } = ending;
      job.feed.end(feedEndingOf({ ...outcome, ...ending, output, id, state: job.state, creditsUsedMicro }));
      for (const webhookId of dueWebhookIds) this.#onWebhookDue(webhookId, job.accountId);
    });
    job.settled = this.#writes.persist(ended);
    this.#emit({ type: "job_ended", job, ending });
    return job.settled;
  }

  #endingOf(job: MutableJob, outcome: Outcome, atMs: number): JobEnding {
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
      ...settle({
        event: outcome.event,
        accountId: job.accountId,
        priceMicro: job.priceMicro,
        hasOutput: job.feed.hasOutput || !isEmptyOutput(outcome.output),
        isFaultOfIsland: isFaultOfIsland(outcome),
        deliveredTokens: job.feed.tokens,
        ...promptCostOf(job),
        maxTokens: job.traits?.maxTokens ?? null,
        networkFee: this.#env.config.networkFee,
        ownerAccountId: job.earner?.accountId ?? null,
      }),
    };
  }
}

/** How a job ends whose Island makes more output than fits. @param full which budget is used up. */
function overrun(job: MutableJob, full: OutputOwner | "job" | "day"): Outcome {
  job.isOverrun = full === "job";
  return { event: "fail", error: tooLarge(job, full), isPaid: full !== "job" };
}

const TOO_LARGE: Readonly<Record<OutputOwner | "day", string>> = {
  day: "The account's jobs have made as much output as the coordinator stores for one account in a day",
  account: "The account's unfinished jobs have as much output as the coordinator keeps in memory for one account",
  island: "The Island's jobs have as much output as the coordinator keeps in memory for one Island",
  coordinator: "The coordinator keeps as much output in memory as it may, and the account has its share of that",
};

/** @param full which budget is used up. */
function tooLarge({ traits }: Pick<ActiveJob, "traits">, full: OutputOwner | "job" | "day"): JobError {
  const limit = traits === null ? "" : ` (${formatBytes(traits.maxOutputBytes)})`;
  const message = full === "job" ? `The Island made more output than the job may have${limit}` : TOO_LARGE[full];
  return { code: "output_too_large", message, retryable: true };
}

/** Why an attempt was given up. */
function describeExpiry(phase: AttemptPhase, limitMs: number): string {
  const limit = `${limitMs / 1_000} s`;
  switch (phase) {
    case "accept":
      return `The Island did not accept the job within ${limit}`;
    case "start":
      return `The Island accepted the job and did not begin it within ${limit}`;
    case "first_output":
      return `The Island began the job and gave no output within ${limit}`;
    case "silence":
      return `The Island fell silent: no output for ${limit}`;
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
