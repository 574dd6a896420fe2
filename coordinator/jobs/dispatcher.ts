import type { Clock } from "../../shared/clock.ts";
import type { JobError } from "../../shared/errors.ts";
import { isApprovalOf, type Catalog, type CatalogEntry } from "../catalog/catalog.ts";
import { settle } from "../credits/settle.ts";
import type { CargoSigner } from "../islands/cargo-signer.ts";
import type { Claims } from "../islands/claims.ts";
import type { Island } from "../islands/island.ts";
import type { JobQuota } from "../quotas/job-quota.ts";
import type { Scheduler, SchedulerEvent } from "../scheduler/scheduler.ts";
import type { JobInput } from "../store/job-store.ts";
import type { Store } from "../store/store.ts";
import { Deadlines } from "./deadlines.ts";
import { deliveredUsage, feedEnding, type Outcome } from "./job-ending.ts";
import { traitsOf, type LiveJob } from "./live-job.ts";

export interface DispatcherOptions {
  /** How long a lost Island's jobs wait for it. */
  readonly graceMs: number;
  /** Attempts that a job has at the most. */
  readonly maxAttempts: number;
  /** The network's part of a charge, 0 to 1. */
  readonly networkFee: number;
}

export interface DispatcherDeps {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly scheduler: Scheduler;
  readonly jobQuota: JobQuota;
  readonly claims: Claims;
  readonly signer: Pick<CargoSigner, "sign">;
  readonly clock: Clock;
  readonly options: DispatcherOptions;
  /** Called when the end of a job, now durable, has made a webhook due. */
  readonly onWebhookDue: (webhookId: string, accountId: string) => void;
  /** Called when a state that was acted on could not be stored: the process must end and start again from storage. */
  readonly onFatal: (error: unknown) => void;
}

/** Time to send what was kept, for an Island that came back at the end of its grace. */
const REPORT_MARGIN_MS = 5_000;

/**
 * Owner of all unfinished jobs: the one place that changes them. Events come in as method calls, the scheduler decides, and the
 * effects leave as frames and as writes that nobody waits for unless something is acknowledged by them.
 */
export class Dispatcher {
  readonly jobs = new Map<string, LiveJob>();
  /** Islands that are connected or in their grace, by host id. */
  readonly islands = new Map<string, Island>();
  readonly #deps: DispatcherDeps;
  readonly #endListeners = new Set<(job: LiveJob) => void>();
  readonly #deadlines: Deadlines;
  #isClosed = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#deadlines = new Deadlines({
      clock: deps.clock,
      cargoOf: (job) => this.#cargoOf(job),
      onExpired: (job, error) => void this.stop(job, "timeout", { event: "expire", error }),
    });
  }

  /** Calls `listener` after each job that ends, in the same turn; when that is durable, `job.settled` resolves. */
  onEnded(listener: (job: LiveJob) => void): void {
    this.#endListeners.add(listener);
  }

  /** Takes in a pending job that is not to compete for Islands before `admit`, and has no wait limit until then. */
  hold(job: LiveJob): void {
    this.jobs.set(job.id, job);
  }

  /** Takes in a pending job that is durable, and assigns it if an Island is free. */
  admit(job: LiveJob): void {
    this.jobs.set(job.id, job);
    // It may have gone since the job was accepted: in the meantime of a commit, of a batch, or of a restart.
    if (this.#deps.catalog.find(job.slug, job.accountId) === undefined) return void this.#failWithoutCargo(job);
    this.#deadlines.beginWait(job);
    this.#queue(job);
  }

  /** Takes in a job that an Island had when the coordinator last ended; it waits for that Island to come back. */
  adopt(job: LiveJob): void {
    this.jobs.set(job.id, job);
    // Whatever passed while we were down, the Island may have the result: it gets the grace to bring it.
    const earliestMs = this.#deps.clock.now() + this.#deps.options.graceMs + REPORT_MARGIN_MS;
    if (job.state === "running") this.#deadlines.beginRun(job, earliestMs);
    else this.#deadlines.beginWait(job, earliestMs);
  }

  /** Hands an event to the scheduler and carries out what it decides. */
  decide(event: SchedulerEvent): void {
    for (const effect of this.#deps.scheduler.step(event, this.#deps.clock.now())) {
      const job = this.jobs.get(effect.jobId);
      const island = this.islands.get(effect.islandId);
      if (job === undefined || island === undefined) throw new Error(`Scheduler assigned ${effect.jobId} to nobody`);
      this.#assign(job, island, job.attempt + 1);
    }
  }

  /**
   * The catalog answers differently for `slug`. If the Cargo is gone, its waiting jobs fail; those that an Island has go on, but
   * get no other attempt. Otherwise every job keeps the Cargo that it was accepted for; the approval of that very one counts.
   */
  cargoChanged(slug: string): void {
    const entry = this.#deps.catalog.known(slug);
    for (const job of this.jobs.values()) {
      if (job.slug !== slug || job.state !== "pending") continue;
      if (entry === undefined) void this.#failWithoutCargo(job);
      else if (job.cargo !== null && isApprovalOf(entry, job.cargo)) {
        job.cargo = entry;
        // One without a place waits at the gate, and is queued when it is admitted.
        if (job.hasPlace) this.#queue(job);
      }
    }
    this.decide({ kind: "cargo_changed", slug });
  }

  /** A pending job turns out to be in an Island's hands already (its assignment was not durable when we last ended). */
  claim(job: LiveJob, island: Island, attempt: number): void {
    this.decide({ kind: "job_gone", jobId: job.id });
    if (!job.hasPlace) {
      // It was admitted before we ended, and waits for room again only because nobody knew.
      this.#deps.jobQuota.add(job.accountId);
      job.hasPlace = true;
      this.#deadlines.beginWait(job);
    }
    this.#take(job, island, attempt);
    const read = this.#deps.store.jobs.input(job.id).then((input) => this.#learnTraits(job, input));
    void this.persist(read);
  }

  /** The Island said that the run began. */
  start(job: LiveJob): void {
    job.apply("start");
    job.startedAtMs = this.#deps.clock.now();
    job.announce("running");
    this.#deadlines.beginRun(job);
    void this.persist(this.#deps.store.jobs.move(this.#move(job, "start")));
  }

  /** What an Island says of its attempt is more than the job can have asked for: the job ends, and the work with it. */
  overflow(job: LiveJob): Promise<void> {
    const message = "The Island made more output than the job can have";
    return this.stop(job, "cancelled", {
      event: "fail",
      error: { code: "output_too_large", message, retryable: true },
    });
  }

  /**
   * The present attempt is over without a result. Another follows unless there were too many, or something was delivered that
   * cannot be gone on with. Resolves when that is durable.
   */
  giveBack(job: LiveJob, error: JobError): Promise<void> {
    if (job.islandId !== null) job.avoidIslands.add(job.islandId);
    const isLast = job.attempt >= this.#deps.options.maxAttempts;
    const isStuck = job.feed.hasOutput && job.traits?.canContinue !== true;
    if (isLast || isStuck) return this.end(job, { event: "fail", error: { ...error, retryable: true } });
    if (this.#deps.catalog.find(job.slug, job.accountId) === undefined) return this.#failWithoutCargo(job);
    const stored = this.#deps.store.jobs.move(this.#move(job, "lose"));
    job.apply("lose");
    job.islandId = null;
    job.startedAtMs = null;
    job.announce("pending");
    this.#deadlines.waitAgain(job);
    this.#queue(job);
    return this.persist(stored);
  }

  /** Ends a job for good. Its readers see the end when it is durable, which is when the promise resolves. */
  end(job: LiveJob, outcome: Outcome): Promise<void> {
    const { store, clock, options } = this.#deps;
    const wasPending = job.state === "pending";
    job.apply(outcome.event);
    job.deadline?.cancel();
    if (wasPending) this.decide({ kind: "job_gone", jobId: job.id });
    const island = job.islandId === null ? undefined : this.islands.get(job.islandId);
    const { chargeMicro, postings } = settle({
      event: outcome.event,
      accountId: job.accountId,
      priceMicro: job.priceMicro,
      hasOutput: job.feed.hasOutput,
      deliveredTokens: job.feed.tokens,
      maxTokens: job.traits?.maxTokens ?? null,
      networkFee: options.networkFee,
      ownerAccountId: island?.accountId ?? null,
    });
    const usage = outcome.usage ?? deliveredUsage(job);
    const unsaved = job.takeUnsaved();
    if (unsaved.length > 0) {
      void this.persist(store.jobs.appendFeed({ jobId: job.id, attempt: job.attempt, seq: null, items: unsaved }));
    }
    const stored = store.jobs.end({
      jobId: job.id,
      event: outcome.event,
      attempt: job.attempt,
      atMs: clock.now(),
      output: outcome.event === "complete" ? (outcome.output ?? job.feed.text()) : undefined,
      usage,
      finishReason: outcome.finishReason ?? null,
      timings: outcome.timings ?? null,
      error: outcome.error ?? null,
      chargeMicro,
      postings,
    });
    job.settled = this.persist(
      stored.then(({ dueWebhookIds }) => {
        this.jobs.delete(job.id);
        if (job.hasPlace) this.#deps.jobQuota.leave(job.accountId);
        job.feed.end(feedEnding(outcome, usage, chargeMicro));
        for (const id of dueWebhookIds) this.#deps.onWebhookDue(id, job.accountId);
      }),
    );
    for (const listener of this.#endListeners) listener(job);
    return job.settled;
  }

  /** Ends a job and tells the Island that has it to stop. Its slot stays taken until the Island confirms. */
  stop(job: LiveJob, reason: "cancelled" | "timeout", outcome: Outcome): Promise<void> {
    const { islandId, attempt } = job;
    const ended = this.end(job, outcome);
    if (islandId !== null) {
      this.islands.get(islandId)?.link?.send({ type: "cancel", jobId: job.id, attempt, reason });
    }
    return ended;
  }

  /** An attempt has left the Island, however it ended. */
  releaseSlot(island: Island, jobId: string): void {
    if (island.holding.delete(jobId) && island.link !== null) {
      this.decide({ kind: "slot_freed", islandId: island.hostId });
    }
  }

  /** Owns a write that was acted on before it was durable: if it fails, memory and storage differ, and the process must end. */
  persist(write: Promise<void>): Promise<void> {
    return write.catch((error: unknown) => {
      if (!this.#isClosed) this.#deps.onFatal(error);
      // Whoever waits for this write must not go on as if it had happened, nor report a failure of its own.
      return new Promise<void>(() => {});
    });
  }

  /** Resolves when every job that has ended so far is stored. */
  async settled(): Promise<void> {
    await Promise.all([...this.jobs.values()].flatMap((job) => job.settled ?? []));
  }

  /** Stops all timers; nothing is decided any more, and what is not stored by now is taken up from storage next time. */
  close(): void {
    this.#isClosed = true;
    for (const job of this.jobs.values()) job.deadline?.cancel();
    for (const island of this.islands.values()) island.grace?.cancel();
  }

  #queue(job: LiveJob): void {
    const { id, accountId, slug, priority, waitsSinceMs: createdAtMs } = job;
    const avoidIslands = [...job.avoidIslands];
    const onlyIslandsOf = this.#cargoOf(job)?.privateTo ?? null;
    const waiting = { id, accountId, slug, onlyIslandsOf, priority, createdAtMs, avoidIslands };
    this.decide({ kind: "job_waiting", job: waiting });
    job.input = null;
  }

  #assign(job: LiveJob, island: Island, attempt: number): void {
    this.#take(job, island, attempt);
    if (job.input !== null) this.#send(job, island, job.input);
    else
      void this.persist(
        this.#deps.store.jobs.input(job.id).then((input) => this.#sendIfCurrent(job, island, attempt, input)),
      );
  }

  #take(job: LiveJob, island: Island, attempt: number): void {
    job.apply("assign");
    job.attempt = attempt;
    job.islandId = island.hostId;
    job.lastSeq = 0;
    job.durableSeq = 0;
    job.announce("queued");
    island.holding.set(job.id, attempt);
    const assigned = this.persist(this.#deps.store.jobs.move(this.#move(job, "assign")));
    job.assigned = assigned;
    void assigned.then(() => {
      if (job.assigned === assigned) job.assigned = null;
    });
  }

  #sendIfCurrent(job: LiveJob, island: Island, attempt: number, input: JobInput): void {
    if (job.state === "queued" && job.attempt === attempt) this.#send(job, island, input);
    // It was cancelled while its input was read: the Island never heard of it, so nobody will confirm.
    else if (island.holding.get(job.id) === attempt) this.releaseSlot(island, job.id);
  }

  #send(job: LiveJob, island: Island, input: JobInput): void {
    const entry = this.#cargoOf(job);
    if (entry === undefined) {
      // Nothing was sent, so nobody will confirm.
      void this.#failWithoutCargo(job);
      return this.releaseSlot(island, job.id);
    }
    this.#learnTraits(job, input);
    island.link?.send({
      type: "assign",
      jobId: job.id,
      attempt: job.attempt,
      claim: this.#deps.claims.issue(job.id, job.attempt, island.hostId),
      ...this.#deps.signer.sign(entry),
      input,
      runLimitMs: entry.runLimitMs,
      ...(job.feed.hasOutput ? { resume: { text: job.feed.text(), tokens: job.feed.tokens } } : {}),
    });
  }

  /** What the job runs: the Cargo as it was when the job was accepted, or when the coordinator took it up again. */
  #cargoOf(job: LiveJob): CatalogEntry | undefined {
    return job.cargo ?? this.#deps.catalog.known(job.slug);
  }

  #failWithoutCargo(job: LiveJob): Promise<void> {
    const message = `The Cargo "${job.slug}" is not available any more`;
    return this.end(job, { event: "fail", error: { code: "cargo_unavailable", message, retryable: false } });
  }

  #learnTraits(job: LiveJob, input: JobInput): void {
    job.traits ??= traitsOf(input, this.#cargoOf(job)?.isChat ?? false);
  }

  #move(job: LiveJob, event: "assign" | "start" | "lose") {
    const atMs = this.#deps.clock.now();
    return { jobId: job.id, event, attempt: job.attempt, islandId: job.islandId, atMs };
  }
}
