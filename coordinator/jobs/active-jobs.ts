import type { PhaseLimits } from "../../shared/attempt-phase.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { DEFAULT_RUN_LIMIT_MS, DEFAULT_WAIT_LIMIT_MS } from "../catalog/cargo-fields.ts";
import { settle } from "../credits/settle.ts";
import { NotOwnerError } from "../store/cluster-store.ts";
import type { DailyStorage } from "../quotas/daily-storage.ts";
import type { JobQuota } from "../quotas/job-quota.ts";
import { outputOwners, type OutputBudget, type OutputOwner } from "../quotas/output-budget.ts";
import type { JobEnding, JobInput } from "../store/jobs/job-store.ts";
import { Deadlines } from "./attempts/deadlines.ts";
import {
  deliveredUsage,
  feedEndingOf,
  isEmptyOutput,
  isFaultOfIsland,
  type Outcome,
  promptCostOf,
} from "./job-ending.ts";
import { JobWrites, type JobWritesDeps } from "./writes/job-writes.ts";
import type { JobRegistryEvent } from "./job-registry-events.ts";
import { traitsOf } from "./job-traits.ts";
import type { MutableJob } from "./mutable-job.ts";
import type { OutputSize } from "./output-size.ts";

export interface ActiveJobsDeps extends JobWritesDeps {
  readonly catalog: Catalog;
  readonly jobQuota: JobQuota;
  readonly outputBudget: OutputBudget;
  readonly dailyStorage: Pick<DailyStorage, "take">;
  /** Output that a job may make if neither its input nor its Cargo says how much. */
  readonly maxOutputBytes: number;
  readonly clock: Clock;
  /** The network's part of a charge, 0 to 1. */
  readonly networkFee: number;
  /** For Cargos that set none. */
  readonly phaseLimits: PhaseLimits;
  /** Longest run, whatever the Cargo says. */
  readonly maxRunMs: number;
  /** Called when the end of a job, now durable, makes a webhook due. */
  readonly onWebhookDue: (webhookId: string, accountId: string) => void;
}

/** A timer later than this shows that this process stood still: what Islands said meanwhile is not read yet, so the phase begins anew. */
const MAX_LATE_MS = 1_000;

/** The state of all unfinished jobs and what every command on them shares. Used by `JobRegistry` and `JobAttempts` only. */
export class ActiveJobs {
  /** By id. A job leaves when its end is durable. */
  readonly byId = new Map<string, MutableJob>();
  readonly writes: JobWrites;
  readonly #deps: ActiveJobsDeps;
  readonly #listeners = new Set<(event: JobRegistryEvent) => void>();
  readonly #deadlines: Deadlines;

  constructor(deps: ActiveJobsDeps) {
    this.#deps = deps;
    this.#deadlines = new Deadlines(deps.clock, {
      leftMs: (jobId) => this.#phaseLeftMs(this.require(jobId)),
      onPassed: (jobId) => this.#passPhase(this.require(jobId)),
    });
    this.writes = new JobWrites(deps, (job, ownerId) => this.drop(job, ownerId));
  }

  subscribe(listener: (event: JobRegistryEvent) => void): void {
    this.#listeners.add(listener);
  }

  emit(event: JobRegistryEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** @throws for a job whose end is durable, and for an unknown id: such a command is a fault of ours. */
  require(jobId: string): MutableJob {
    const job = this.byId.get(jobId);
    if (job === undefined) throw new Error(`Job ${jobId} is not active`);
    return job;
  }

  /** What the job runs. Undefined when the Cargo was gone at the last restart and is still gone. */
  cargoOf(job: MutableJob): CatalogEntry | undefined {
    return job.cargo ?? this.#deps.catalog.known(job.slug);
  }

  /** True if the job's account may still run its Cargo. */
  hasCargo(job: MutableJob): boolean {
    return this.#deps.catalog.find(job.slug, job.accountId) !== undefined;
  }

  /** Learns what the input says; the first call counts. */
  learnTraits(job: MutableJob, input: JobInput): void {
    job.traits ??= traitsOf(input, this.cargoOf(job), this.#deps.maxOutputBytes);
  }

  /** Takes in an unfinished job, with the output that it has. */
  add(job: MutableJob): MutableJob {
    this.byId.set(job.id, job);
    this.#deps.outputBudget.add(outputOwners(job.accountId, null), job.memoryBytes);
    return job;
  }

  /** Counts output of the present attempt; what it may not make is not counted, and is told. */
  takeOutput(job: MutableJob, { tokens, bytes, memoryBytes }: OutputSize): OutputOwner | "job" | "day" | null {
    const maxOutputBytes = job.traits?.maxOutputBytes ?? this.#deps.maxOutputBytes;
    const maxTokens = job.traits?.maxTokens ?? Infinity;
    if (job.feed.tokens + tokens > maxTokens || job.outputBytes + bytes > maxOutputBytes) return "job";
    const { outputBudget } = this.#deps;
    const full = outputBudget.fullFor(outputOwners(job.accountId, job.islandId), memoryBytes);
    if (full !== null) return full;
    if (this.#deps.dailyStorage.take(job.accountId, bytes) > 0) return "day";
    outputBudget.add(outputOwners(job.accountId, job.islandId), memoryBytes);
    job.outputBytes += bytes;
    job.memoryBytes += memoryBytes;
    job.attemptMemoryBytes += memoryBytes;
    return null;
  }

  /** The present attempt is over: its Island holds none of the output any more. */
  leaveIsland(job: MutableJob): void {
    if (job.islandId !== null) this.#deps.outputBudget.add([["island", job.islandId]], -job.attemptMemoryBytes);
    job.attemptMemoryBytes = 0;
  }

  /** Lets a pending job compete for Islands. It may be assigned before this returns. */
  compete(job: MutableJob): void {
    if (job.isMoving) return;
    if (job.cargo !== null) job.cargo = this.#deps.catalog.approvedForm(job.cargo);
    this.emit({ type: "job_waiting", job });
    job.input = null;
  }

  /** The wait of a durable job begins. */
  beginCompeting(job: MutableJob): void {
    // Its Cargo may have gone since the job was accepted: during the commit, the wait for a place, or a restart.
    if (!this.hasCargo(job)) return void this.failWithoutCargo(job);
    this.beginWait(job);
    this.compete(job);
  }

  /** Counts the job against its account's limit, without a look at the limit. */
  takePlace(job: MutableJob): void {
    this.#deps.jobQuota.add(job.accountId);
    job.hasPlace = true;
  }

  /** The wait of a job of a batch begins here: its wait for other jobs of its account does not count. README, "Batches". */
  beginWait(job: MutableJob, earliestMs = 0): void {
    if (job.batchId !== null) {
      job.waitsSinceMs = this.#deps.clock.now();
      job.waitDeadlineMs = job.waitsSinceMs + (this.cargoOf(job)?.waitLimitMs ?? DEFAULT_WAIT_LIMIT_MS);
    }
    this.awaitStart(job, earliestMs);
  }

  /** Sets the wait limit's timer; it passes at `earliestMs` (ms since the epoch) or later. */
  awaitStart(job: MutableJob, earliestMs = 0): void {
    job.waitDeadlineMs = Math.max(job.waitDeadlineMs, earliestMs);
    this.#deadlines.set(job.id, job.waitDeadlineMs, () => this.emit({ type: "wait_limit_passed", job }));
  }

  /** Sets the run limit's timer; it passes at `earliestMs` (ms since the epoch) or later. */
  beginRun(job: MutableJob, earliestMs = 0): void {
    const deadlineMs = Math.max((job.startedAtMs ?? this.#deps.clock.now()) + this.runLimitMs(job), earliestMs);
    this.#deadlines.set(job.id, deadlineMs, () => this.emit({ type: "run_limit_passed", job }));
  }

  runLimitMs(job: MutableJob): number {
    return Math.min(this.cargoOf(job)?.runLimitMs ?? DEFAULT_RUN_LIMIT_MS, this.#deps.maxRunMs);
  }

  /** A sign of life of the present attempt, now unless it is said. It costs no timer. */
  noteSign(job: MutableJob, atMs = this.#deps.clock.monotonicMs()): void {
    job.lastSignMs = atMs;
  }

  /** The present attempt is in another phase, whose limit counts from now. */
  beginPhase(job: MutableJob): void {
    this.noteSign(job);
    this.#deadlines.limitChanged(job.id);
  }

  /** Longest time of the job's phase without a sign of life. A Cargo that streams no tokens may be silent as long as it may run. */
  phaseLimitMs(job: MutableJob): number {
    const { phase } = job;
    if (phase === null) return Infinity;
    const cargo = this.cargoOf(job);
    const own = cargo?.phaseLimitsMs?.[phase];
    if (own !== undefined) return own;
    const isRunning = phase === "first_output" || phase === "silence";
    return !isRunning || cargo?.isChat === true ? this.#deps.phaseLimits[phase] : Infinity;
  }

  /** Forgets a job that was offered and could not be stored. What waits for its storage never goes on. */
  withdraw(job: MutableJob): void {
    this.byId.delete(job.id);
    this.#deadlines.clear(job.id);
    this.emit({ type: "offer_withdrawn", job });
  }

  /** Forgets a job that another coordinator has; see `job_dropped`. */
  drop(job: MutableJob, ownerId: string | null): void {
    if (job.isDropped) return;
    job.drop();
    this.byId.delete(job.id);
    this.#deadlines.clear(job.id);
    this.writes.forget(job);
    if (job.state === "pending") this.emit({ type: "job_withdrawn", job });
    this.leaveIsland(job);
    this.#deps.outputBudget.add(outputOwners(job.accountId, null), -job.memoryBytes);
    this.emit({ type: "job_dropped", job, feed: job.feed, ownerId });
    if (job.hasPlace) this.#deps.jobQuota.leave(job.accountId);
  }

  /** Resolves when the end of the job is durable. @throws {NotOwnerError} when another coordinator has the job by now. */
  async untilEnded(job: MutableJob): Promise<void> {
    await Promise.race([job.settled, job.untilDropped()]);
    if (job.isDropped) throw new NotOwnerError(job.id, null);
  }

  /** Ends a job for good. Readers see the end when it is durable; the promise resolves then. @throws {IllegalTransitionError} */
  end(job: MutableJob, outcome: Outcome): Promise<void> {
    const wasPending = job.state === "pending";
    job.apply(outcome.event);
    const atMs = this.#deps.clock.now();
    job.endedAtMs = atMs;
    this.#deadlines.clear(job.id);
    if (wasPending) this.emit({ type: "job_withdrawn", job });
    const { id: jobId } = job;
    const ending = this.#endingOf(job, outcome, atMs);
    this.leaveIsland(job);
    const ended = this.writes.end(job, ending).then(({ dueWebhookIds, output }) => {
      this.byId.delete(jobId);
      this.#deps.outputBudget.add(outputOwners(job.accountId, null), -job.memoryBytes);
      if (job.hasPlace) this.#deps.jobQuota.leave(job.accountId);
      const { chargeMicro: creditsUsedMicro } = ending;
      job.feed.end(feedEndingOf({ ...outcome, ...ending, output, id: jobId, state: job.state, creditsUsedMicro }));
      for (const id of dueWebhookIds) this.#deps.onWebhookDue(id, job.accountId);
    });
    job.settled = this.writes.persist(ended);
    this.emit({ type: "job_ended", job, ending });
    return job.settled;
  }

  /** Ends a job and has its Island stop the work. */
  stop(job: MutableJob, reason: "cancelled" | "timeout", outcome: Outcome): Promise<void> {
    const ended = this.end(job, outcome);
    if (job.islandId !== null) this.emit({ type: "attempt_stopped", job, reason });
    return ended;
  }

  failWithoutCargo(job: MutableJob): Promise<void> {
    const message = `The Cargo "${job.slug}" is not available any more`;
    return this.end(job, { event: "fail", error: { code: "cargo_unavailable", message, retryable: false } });
  }

  /** Stops all timers. What is not durable by now is restored from storage at the next start. */
  close(): void {
    this.#deadlines.close();
    this.writes.close();
  }

  #phaseLeftMs(job: MutableJob): number {
    return job.lastSignMs + this.phaseLimitMs(job) - this.#deps.clock.monotonicMs();
  }

  #passPhase(job: MutableJob): void {
    const lateMs = -this.#phaseLeftMs(job);
    this.noteSign(job);
    if (lateMs < MAX_LATE_MS) this.emit({ type: "phase_limit_passed", job });
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
        networkFee: this.#deps.networkFee,
        ownerAccountId: job.earner?.accountId ?? null,
      }),
    };
  }
}
