import type { Clock } from "../../shared/clock.ts";
import { MAX_DETAILS, RateLimitedError, ServiceError, ValidationError, type FieldError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { checkInput } from "../catalog/input-check.ts";
import { holdPostings } from "../credits/postings.ts";
import { resolveLimits } from "../quotas/account-limits.ts";
import type { BatchRecord, FailMode, LiveBatchRecord, NewBatch } from "../store/batch-store.ts";
import type { JobInput } from "../store/job-store.ts";
import type { Store } from "../store/store.ts";
import { newWebhook } from "../webhooks/new-webhook.ts";
import { readGeneratedSecret, readWebhookLog } from "../webhooks/webhook-log.ts";
import type { BatchGate } from "./batch-gate.ts";
import type { BatchService, BatchView, SubmitBatchRequest, SubmittedBatch } from "./batch-service.ts";
import { batchStatusOf } from "./batch-status.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { firstOfKey } from "./first-of-key.ts";
import { LiveJob } from "./live-job.ts";

export interface LiveBatchesDeps {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly dispatcher: Dispatcher;
  readonly gate: BatchGate;
  readonly clock: Clock;
  /** Also take webhooks for private addresses, and over http. */
  readonly webhookAllowPrivate: boolean;
}

/** A batch with jobs whose end is not durable yet. */
interface LiveBatch {
  readonly id: string;
  readonly failMode: FailMode;
  readonly jobs: Map<string, LiveJob>;
}

/** Jobs of one account's batches that may wait for room. */
const MAX_WAITING_JOBS = 1_000;
const RETRY_WHEN_FULL_S = 60;

/** Batches as clients see them, and what the end of one job means to the others of its batch. */
export class LiveBatches implements BatchService {
  readonly #deps: LiveBatchesDeps;
  readonly #batches = new Map<string, LiveBatch>();

  constructor(deps: LiveBatchesDeps) {
    this.#deps = deps;
    deps.dispatcher.onEnded((job) => this.#noteEnd(job));
  }

  async submit(request: SubmitBatchRequest): Promise<SubmittedBatch> {
    const { store, clock } = this.#deps;
    const { accountId, idempotency } = request;
    const record = await firstOfKey(
      () => store.batches.findRepeat({ accountId, idempotency, createdAtMs: clock.now() }),
      () => this.#submitNew(request),
    );
    return {
      ...(await this.#view(record)),
      webhookSecret: await readGeneratedSecret(store.webhooks, record.webhookId),
    };
  }

  async #submitNew(request: SubmitBatchRequest): Promise<BatchRecord> {
    const { store, catalog, clock, gate, webhookAllowPrivate: allowPrivate } = this.#deps;
    const entry = catalog.get(request.slug, request.accountId);
    checkInputs(entry, request.inputs);
    const { concurrentJobs } = resolveLimits(await store.accounts.limits(request.accountId));
    // Otherwise the batch would wait, and its credits be held, for room that is never there.
    if (concurrentJobs === 0) throw new RateLimitedError("concurrent_jobs", RETRY_WHEN_FULL_S);
    // A Cargo may cost nothing, so credits do not bound what waits.
    if (gate.waitingOf(request.accountId) + request.inputs.length > MAX_WAITING_JOBS) {
      throw new RateLimitedError("concurrent_jobs", RETRY_WHEN_FULL_S);
    }
    const nowMs = clock.now();
    const webhook = newWebhook(request.webhook, { allowPrivate, nowMs });
    const batch = newBatch(request, entry, nowMs, webhook);
    const outcome = await store.batches.submit(batch);
    if (outcome.created) this.#begin(batch, entry);
    return outcome.batch;
  }

  async get(accountId: string, batchId: string): Promise<BatchView> {
    return this.#view(await this.#find(accountId, batchId));
  }

  async cancel(accountId: string, batchId: string): Promise<BatchView> {
    const { store, clock, dispatcher } = this.#deps;
    const record = await this.#find(accountId, batchId);
    const live = this.#batches.get(batchId);
    const jobs = [...(live?.jobs.values() ?? [])];
    if (jobs.every((job) => job.hasEnded)) {
      throw new ServiceError("job_not_cancellable", `The batch is ${batchStatusOf(record)} already`);
    }
    const noted = dispatcher.persist(store.batches.cancel(batchId, clock.now()));
    this.#cancelAll(jobs);
    await noted;
    for (const { settled } of jobs) await settled;
    return this.get(accountId, batchId);
  }

  /** Takes up the batches of the jobs that the dispatcher recovered, and goes on with what was broken off. */
  async recover(): Promise<void> {
    const modes = new Map((await this.#deps.store.batches.unfinished()).map((batch) => [batch.id, batch]));
    const waiting: LiveJob[] = [];
    for (const job of this.#deps.dispatcher.jobs.values()) {
      const record = job.batchId === null ? undefined : modes.get(job.batchId);
      if (record === undefined || job.hasEnded) continue;
      this.#add(record, job);
      if (job.attempt === 0) waiting.push(job);
    }
    this.#deps.gate.enter(waiting);
    for (const { id, failMode, hasFailed, isCancelled } of modes.values()) {
      const isOver = isCancelled || (failMode === "fail_fast" && hasFailed);
      if (isOver) this.#cancelAll([...(this.#batches.get(id)?.jobs.values() ?? [])]);
    }
  }

  /** In the turn in which the batch became durable: nobody can ask for a job of it before. */
  #begin(batch: NewBatch, cargo: CatalogEntry): void {
    const jobs = batch.jobs.map((job) => {
      const live = new LiveJob({
        ...job,
        batchId: batch.id,
        state: "pending",
        attempt: 0,
        islandId: null,
        startedAtMs: null,
      });
      live.cargo = cargo;
      live.announce("pending");
      this.#add(batch, live);
      this.#deps.dispatcher.hold(live);
      return live;
    });
    this.#deps.gate.enter(jobs);
  }

  #add({ id, failMode }: Pick<LiveBatchRecord, "id" | "failMode">, job: LiveJob): void {
    let batch = this.#batches.get(id);
    if (batch === undefined) {
      batch = { id, failMode, jobs: new Map() };
      this.#batches.set(id, batch);
    }
    batch.jobs.set(job.id, job);
  }

  #noteEnd(job: LiveJob): void {
    this.#deps.gate.leave(job);
    const batch = job.batchId === null ? undefined : this.#batches.get(job.batchId);
    if (batch === undefined) return;
    const hasFailed = job.state === "failed" || job.state === "timeout";
    if (hasFailed && batch.failMode === "fail_fast") this.#cancelAll([...batch.jobs.values()]);
    void job.settled?.then(() => {
      batch.jobs.delete(job.id);
      if (batch.jobs.size === 0) this.#batches.delete(batch.id);
    });
  }

  /** In one turn: places are given back when the ends are durable, so that none is taken by another job of the batch. */
  #cancelAll(jobs: readonly LiveJob[]): void {
    for (const job of jobs) {
      if (!job.hasEnded) void this.#deps.dispatcher.stop(job, "cancelled", { event: "cancel" });
    }
  }

  /** Another account's batch does not exist. */
  async #find(accountId: string, batchId: string): Promise<BatchRecord> {
    const record = await this.#deps.store.batches.get(batchId);
    if (record === undefined || record.accountId !== accountId) {
      throw new ServiceError("not_found", `There is no batch "${batchId}"`);
    }
    return record;
  }

  async #view(record: BatchRecord): Promise<BatchView> {
    return { ...record, webhook: await readWebhookLog(this.#deps.store.webhooks, record.webhookId) };
  }
}

/** @throws {ValidationError} naming what is wrong in every input. */
function checkInputs(entry: CatalogEntry, inputs: readonly JobInput[]): void {
  const details: FieldError[] = [];
  for (const [index, input] of inputs.entries()) {
    try {
      checkInput(entry, input, `inputs.${index}`);
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      details.push(...error.details);
    }
    if (details.length >= MAX_DETAILS) break;
  }
  if (details.length > 0) throw new ValidationError(details);
}

function newBatch(
  { accountId, inputs, priority, failMode, idempotency }: SubmitBatchRequest,
  { slug, workloadId, priceMicro, waitLimitMs }: CatalogEntry,
  createdAtMs: number,
  webhook: NewBatch["webhook"],
): NewBatch {
  const job = { accountId, slug, workloadId, priority, priceMicro, createdAtMs };
  const waitDeadlineMs = createdAtMs + waitLimitMs;
  return {
    id: newId("batch", createdAtMs),
    accountId,
    slug,
    workloadId,
    priority,
    failMode,
    createdAtMs,
    idempotency,
    webhook,
    postings: holdPostings(
      accountId,
      inputs.map(() => priceMicro),
    ),
    // Ids grow in the order in which they are made.
    jobs: inputs.map((input) => ({ ...job, id: newId("job", createdAtMs), input, waitDeadlineMs })),
  };
}
