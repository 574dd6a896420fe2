import type { Clock } from "../../../shared/clock.ts";
import { RateLimitedError, ServiceError } from "../../../shared/errors.ts";
import { isTerminal } from "../../../shared/job-state.ts";
import { newId } from "../../../shared/ids.ts";
import { REFUSALS } from "../../store/refusals.ts";
import type { ActiveBatchRecord, BatchRecord, FailMode, JobInput, NewBatch } from "../../store/jobs/job-store.ts";
import type { Store } from "../../store/store.ts";
import { readGeneratedSecret, readWebhookLog, type WebhookLog } from "../../webhooks/webhook-log.ts";
import type { ActiveJob } from "../active-job.ts";
import type { BatchGate } from "./batch-gate.ts";
import { batchStatusOf } from "./batch-status.ts";
import type { JobRegistry } from "../job-registry.ts";
import type { JobRouter } from "../job-router.ts";
import type { CheckedSubmission, SubmissionRequest, Submissions } from "../submissions.ts";

export interface BatchServiceDeps {
  readonly store: Pick<Store, "batches" | "webhooks">;
  readonly jobs: JobRegistry;
  readonly submissions: Submissions;
  readonly gate: BatchGate;
  readonly clock: Pick<Clock, "now">;
  /** Jobs that other coordinators have; absent for one that is alone. */
  readonly router?: JobRouter;
}

export interface SubmitBatchRequest extends SubmissionRequest {
  /** One job each; 1 to 100. */
  readonly inputs: readonly JobInput[];
  readonly failMode: FailMode;
}

/** A batch as its owner sees it. */
export interface BatchView extends BatchRecord {
  readonly webhook: WebhookLog | null;
}

/** The answer to a submission. */
export interface SubmittedBatch extends BatchView {
  /** The secret that the coordinator made for the webhook; null without a webhook, or where the client sent a secret. */
  readonly webhookSecret: string | null;
}

/** A batch with jobs whose end is not durable yet. */
interface ActiveBatch {
  readonly id: string;
  readonly failMode: FailMode;
  readonly jobs: Map<string, ActiveJob>;
}

/** Jobs of one account's batches that may wait for a place. A Cargo may cost nothing, so credits do not bound what waits. */
const MAX_WAITING_JOBS = 1_000;
const RETRY_WHEN_FULL_S = 60;

/** What the API builds on; see {@link BatchService}. */
export type BatchApi = Pick<BatchService, "submit" | "get" | "cancel">;

/** What clients can do with batches, and what the end of one job means to the rest of its batch. README, "Batches". */
export class BatchService {
  readonly #deps: BatchServiceDeps;
  readonly #batches = new Map<string, ActiveBatch>();

  constructor(deps: BatchServiceDeps) {
    this.#deps = deps;
    deps.jobs.subscribe((event) => {
      if (event.type === "job_ended") this.#noteEnd(event.job);
      if (event.type === "job_dropped") this.#forget(event.job);
    });
  }

  /**
   * Resolves when all jobs are durable and their prices held.
   * @throws {ServiceError} `cargo_not_found`, `validation_failed` naming every bad input, `insufficient_credits`,
   * `idempotency_conflict`; {@link RateLimitedError} when too many jobs of the account wait already.
   */
  async submit(request: SubmitBatchRequest): Promise<SubmittedBatch> {
    const { store, submissions, clock } = this.#deps;
    const { accountId, idempotency, inputs } = request;
    const record = await submissions.firstOfKey(
      () => store.batches.findRepeat({ accountId, idempotency, createdAtMs: clock.now() }),
      async () => {
        const paths = inputs.map((input, index) => ({ path: `inputs.${index}`, input }));
        const checked = await submissions.check(request, paths);
        return checked.withFiles(() => this.#store(request, checked));
      },
    );
    const webhookSecret = await readGeneratedSecret(store.webhooks, record.webhookId);
    return { ...(await this.#view(record)), webhookSecret };
  }

  /** Another account's batch does not exist. @throws {ServiceError} `not_found` */
  async get(accountId: string, batchId: string): Promise<BatchView> {
    return this.#view(await this.#find(accountId, batchId));
  }

  /** Ends every unfinished job. Resolves when that is durable. @throws {ServiceError} `not_found`, `job_not_cancellable`. */
  async cancel(accountId: string, batchId: string): Promise<BatchView> {
    const { store, clock, jobs, submissions } = this.#deps;
    // A batch can be read as soon as it is stored, which is before its jobs are here.
    await submissions.settled(batchId);
    const record = await this.#find(accountId, batchId);
    const unfinished = [...(this.#batches.get(batchId)?.jobs.values() ?? [])];
    if (unfinished.every((job) => job.hasEnded) && this.#elsewhere(record).length === 0) {
      throw new ServiceError("job_not_cancellable", `The batch is ${batchStatusOf(record)} already`);
    }
    const noted = jobs.persist(store.batches.cancel(batchId, clock.now()));
    this.#cancelAll(unfinished);
    await noted;
    await jobs.settled(unfinished);
    await this.#cancelElsewhere(batchId);
    return this.get(accountId, batchId);
  }

  /**
   * Continues the batches of jobs that the registry restored: of all unless told. A cancellation that a stop interrupted is completed.
   */
  async restore(restored?: readonly ActiveJob[]): Promise<void> {
    const ids = restored?.flatMap(({ batchId }) => batchId ?? []);
    const records = new Map((await this.#deps.store.batches.unfinished(ids)).map((batch) => [batch.id, batch]));
    const parked: ActiveJob[] = [];
    for (const job of restored ?? this.#deps.jobs.list()) {
      const record = job.batchId === null ? undefined : records.get(job.batchId);
      if (record === undefined || job.hasEnded || job.isDropped) continue;
      this.#add(record, job);
      if (!job.hasPlace) parked.push(job);
    }
    this.#deps.gate.enter(parked);
    this.#endOver(records.values());
  }

  /** Ids of the batches with jobs here. */
  get activeIds(): string[] {
    return [...this.#batches.keys()];
  }

  /** Ends what is left here of those of these batches that are over: cancelled, or failed at the first failure, at whatever coordinator. */
  async endOver(ids: readonly string[]): Promise<void> {
    const here = ids.filter((id) => this.#batches.has(id));
    if (here.length > 0) this.#endOver(await this.#deps.store.batches.unfinished(here));
  }

  #endOver(records: Iterable<ActiveBatchRecord>): void {
    for (const { id, failMode, hasFailed, isCancelled } of records) {
      const isOver = isCancelled || (failMode === "fail_fast" && hasFailed);
      if (isOver) this.#cancelAll([...(this.#batches.get(id)?.jobs.values() ?? [])]);
    }
  }

  async #store(request: SubmitBatchRequest, checked: CheckedSubmission): Promise<BatchRecord> {
    const { store, gate, submissions } = this.#deps;
    const { accountId, inputs, failMode, idempotency } = request;
    const { common, webhook, apiKey, postings, maxJobs } = checked;
    // With a limit of 0 the batch would wait, and its credits be held, for a place that never comes.
    if (maxJobs === 0) throw REFUSALS.too_many_jobs(maxJobs);
    const waiting = gate.waitingOf(accountId);
    if (waiting + inputs.length > MAX_WAITING_JOBS) {
      const message = `${waiting} jobs of your batches wait, this one has ${inputs.length}, and ${MAX_WAITING_JOBS} may wait at once; send it again when some have ended`;
      throw new RateLimitedError("concurrent_jobs", RETRY_WHEN_FULL_S, message);
    }
    const id = newId("batch", common.createdAtMs);
    const jobs = await checked.newJobs();
    // Jobs that wait here go first.
    const placeLimit = gate.waitingOf(accountId) === 0 ? maxJobs : null;
    const batch: NewBatch = { ...common, id, failMode, idempotency, webhook, apiKey, postings, jobs, placeLimit };
    return submissions.commit([id, ...jobs.map((job) => job.id)], async () => {
      const outcome = await store.batches.submit(batch);
      if (outcome.created) this.#begin(batch, checked, outcome.placed);
      return outcome.batch;
    });
  }

  /** `placed`: so many jobs have a place, and compete at once; the others wait for one. */
  #begin(batch: NewBatch, { cargo }: CheckedSubmission, placed: number): void {
    const unbegun = {
      batchId: batch.id,
      state: "pending",
      attempt: 0,
      refusals: 0,
      islandId: null,
      startedAtMs: null,
    } as const;
    const parked = batch.jobs.map((job) => {
      const active = this.#deps.jobs.park({ ...job, ...unbegun }, cargo);
      this.#add(batch, active);
      return active;
    });
    // The end of one may end all.
    for (const job of parked.slice(0, placed)) if (!job.hasEnded) this.#deps.jobs.admitParked(job.id);
    this.#deps.gate.enter(parked.slice(placed).filter((job) => !job.hasEnded));
  }

  #add({ id, failMode }: Pick<ActiveBatchRecord, "id" | "failMode">, job: ActiveJob): void {
    let batch = this.#batches.get(id);
    if (batch === undefined) {
      batch = { id, failMode, jobs: new Map() };
      this.#batches.set(id, batch);
    }
    batch.jobs.set(job.id, job);
  }

  #noteEnd(job: ActiveJob): void {
    this.#deps.gate.leave(job);
    const batch = job.batchId === null ? undefined : this.#batches.get(job.batchId);
    if (batch === undefined) return;
    const hasFailed = job.state === "failed" || job.state === "timeout";
    if (hasFailed && batch.failMode === "fail_fast") this.#cancelAll([...batch.jobs.values()]);
    void job.settled?.then(() => this.#remove(batch, job));
  }

  /** Another coordinator has the job. */
  #forget(job: ActiveJob): void {
    this.#deps.gate.leave(job);
    const batch = job.batchId === null ? undefined : this.#batches.get(job.batchId);
    if (batch !== undefined) this.#remove(batch, job);
  }

  #remove(batch: ActiveBatch, job: ActiveJob): void {
    // It may have come back meanwhile.
    if (batch.jobs.get(job.id) === job) batch.jobs.delete(job.id);
    if (batch.jobs.size === 0) this.#batches.delete(batch.id);
  }

  /** In one turn. Places are returned when the ends are durable, so that no other job of the batch takes one. */
  #cancelAll(jobs: readonly ActiveJob[]): void {
    for (const job of jobs) if (!job.hasEnded) this.#deps.jobs.stop(job.id);
  }

  /** Unfinished jobs of the batch that other coordinators have. */
  #elsewhere(record: BatchRecord): string[] {
    const { jobs, router } = this.#deps;
    if (router === undefined) return [];
    return record.jobs.flatMap(({ id, state }) => (isTerminal(state) || jobs.get(id) !== undefined ? [] : [id]));
  }

  /** @throws {ServiceError} `cluster_unavailable` */
  async #cancelElsewhere(batchId: string): Promise<void> {
    const { router, store } = this.#deps;
    const record = router === undefined ? undefined : await store.batches.get(batchId);
    if (record === undefined) return;
    await Promise.all(this.#elsewhere(record).map(async (id) => (await router?.find(id))?.cancel()));
  }

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
