import type { Clock } from "../../../shared/clock.ts";
import { RateLimitedError, ServiceError } from "../../../shared/errors.ts";
import { isTerminal, JOB_STATES, type JobState } from "../../../shared/job-state.ts";
import { newId } from "../../../shared/ids.ts";
import { REFUSALS } from "../../store/refusals.ts";
import type { ActiveBatchRecord, BatchRecord, FailMode, NewBatch } from "../../store/jobs/job-store.ts";
import type { InputText } from "../../catalog/input-text.ts";
import type { Store } from "../../store/store.ts";
import { readGeneratedSecret, readWebhookLog, type WebhookLog } from "../../webhooks/owned-webhook.ts";
import type { ActiveJob } from "../active-job.ts";
import { type JobRegistry, NEW_JOB } from "../job-registry.ts";
import type { JobRouter, RemoteJob } from "../job-router.ts";
import type { CheckedSubmission, SubmissionRequest, Submissions } from "../submissions.ts";
import type { BatchGate } from "./batch-gate.ts";

interface SubmitBatchRequest extends SubmissionRequest {
  /** Inputs of the jobs, 1 to 100. */
  readonly inputs: readonly InputText[];
  readonly failMode: FailMode;
}

export interface BatchView extends BatchRecord {
  readonly webhook: WebhookLog | null;
}

export interface SubmittedBatch extends BatchView {
  /** Webhook secret that the coordinator created; null without a webhook, or if the client sent its own secret. */
  readonly webhookSecret: string | null;
}

/** A batch with jobs whose end is not durable yet. */
interface ActiveBatch {
  readonly id: string;
  readonly failMode: FailMode;
  readonly jobs: Map<string, ActiveJob>;
}

/** Maximum number of waiting batch jobs of one account. Credits do not limit them: a Cargo may be free. */
const MAX_WAITING_JOBS = 1_000;
/** `Retry-After` of a refused batch, in seconds. */
const RETRY_WHEN_FULL_S = 60;

export type BatchService = ReturnType<typeof openBatchService>;
export type BatchApi = Pick<BatchService, "submit" | "get" | "cancel">;

/** Handles batches for clients, and the effect of a job's end on the rest of its batch. See the README, "Batches". */
export function openBatchService(
  clock: Clock,
  store: Pick<Store, "batches" | "webhooks">,
  jobs: JobRegistry,
  submissions: Submissions,
  gate: BatchGate,
  router: JobRouter,
) {
  const batches = new Map<string, ActiveBatch>();

  jobs.subscribe((event) => {
    if (event.type === "job_ended") noteEnd(event.job);
    if (event.type === "job_dropped") forget(event.job);
  });

  /** Returns a batch of the account. @throws {ServiceError} `not_found`, also for a batch of another account. */
  async function get(accountId: string, batchId: string): Promise<BatchView> {
    return viewOf(await find(accountId, batchId));
  }

  function cancelEnded(records: Iterable<ActiveBatchRecord>): void {
    for (const { id, failMode, hasFailed, isCancelled } of records) {
      const isOver = isCancelled || (failMode === "fail_fast" && hasFailed);
      if (isOver) cancelAll([...(batches.get(id)?.jobs.values() ?? [])]);
    }
  }

  async function submitChecked(request: SubmitBatchRequest, checked: CheckedSubmission): Promise<BatchRecord> {
    const { accountId, inputs, failMode, idempotency } = request;
    const { common, webhook, apiKey, postings, maxJobs } = checked;
    // The batch would wait forever for a quota slot, and its credits would stay held.
    if (maxJobs === 0) throw REFUSALS.too_many_jobs(maxJobs);
    const waiting = gate.waitingOf(accountId);
    if (waiting + inputs.length > MAX_WAITING_JOBS) {
      const message = `The batch has ${inputs.length} jobs, and ${waiting} of your batch jobs already wait; at most ${MAX_WAITING_JOBS} may wait. Send it again when some have ended`;
      throw new RateLimitedError("concurrent_jobs", RETRY_WHEN_FULL_S, message);
    }
    const id = newId("batch", common.createdAtMs);
    const newJobs = await checked.newJobs();
    // New jobs get quota slots at once only if no other job of the account waits.
    const slotLimit = gate.waitingOf(accountId) === 0 ? maxJobs : null;
    const batch = { ...common, id, failMode, idempotency, webhook, apiKey, postings, jobs: newJobs, slotLimit };
    return submissions.commit([id, ...newJobs.map((job) => job.id)], async () => {
      const outcome = await store.batches.submit(batch);
      if (outcome.created) begin(batch, checked, outcome.admitted);
      return outcome.batch;
    });
  }

  /**
   * Adds the jobs of a stored batch to the registry.
   * @param admitted Number of jobs that have a quota slot and compete at once. The other jobs wait for a slot.
   */
  function begin(batch: NewBatch, { cargo }: CheckedSubmission, admitted: number): void {
    const parked = batch.jobs.map((job) => {
      const active = jobs.park({ ...job, ...NEW_JOB, batchId: batch.id }, cargo);
      add(batch, active);
      return active;
    });
    // The end of one job may end all jobs of the batch.
    for (const job of parked.slice(0, admitted)) if (!job.hasEnded) jobs.admitParked(job.id);
    gate.enter(parked.slice(admitted).filter((job) => !job.hasEnded));
  }

  function add({ id, failMode }: Pick<ActiveBatchRecord, "id" | "failMode">, job: ActiveJob): void {
    const batch = batches.get(id) ?? { id, failMode, jobs: new Map<string, ActiveJob>() };
    batches.set(id, batch);
    batch.jobs.set(job.id, job);
  }

  function noteEnd(job: ActiveJob): void {
    gate.leave(job);
    const batch = batchOf(job);
    if (batch === undefined) return;
    const hasFailed = job.state === "failed" || job.state === "timeout";
    if (hasFailed && batch.failMode === "fail_fast") cancelAll([...batch.jobs.values()]);
    void job.settled?.then(() => remove(batch, job));
  }

  function forget(job: ActiveJob): void {
    gate.leave(job);
    const batch = batchOf(job);
    if (batch !== undefined) remove(batch, job);
  }

  function batchOf({ batchId }: ActiveJob): ActiveBatch | undefined {
    return batchId === null ? undefined : batches.get(batchId);
  }

  function remove(batch: ActiveBatch, job: ActiveJob): void {
    // The job may have been adopted again since, as another object.
    if (batch.jobs.get(job.id) === job) batch.jobs.delete(job.id);
    if (batch.jobs.size === 0) batches.delete(batch.id);
  }

  /** Cancels the jobs. Synchronous: slots are released after the durable ends, so no job of the batch takes one. */
  function cancelAll(unfinished: readonly ActiveJob[]): void {
    for (const job of unfinished) if (!job.hasEnded) jobs.stop(job.id);
  }

  /** Returns the unfinished jobs of the batch that other coordinators have. */
  async function elsewhere(record: BatchRecord): Promise<RemoteJob[]> {
    const missing = record.jobs.filter(({ id, state }) => !isTerminal(state) && jobs.get(id) === undefined);
    const found = await Promise.all(missing.map(({ id }) => router.find(id)));
    return found.filter((job) => job !== undefined);
  }

  async function find(accountId: string, batchId: string): Promise<BatchRecord> {
    const record = await store.batches.get(batchId);
    if (record === undefined || record.accountId !== accountId) {
      throw new ServiceError("not_found", `There is no batch "${batchId}"`);
    }
    return record;
  }

  async function viewOf(record: BatchRecord): Promise<BatchView> {
    return { ...record, webhook: await readWebhookLog(store.webhooks, record.webhookId) };
  }

  return {
    get,
    /**
     * Submits a batch. Resolves when all jobs are durable and their prices held. @throws {ServiceError}
     * `cargo_not_found`, `validation_failed` naming every invalid input, `insufficient_credits`,
     * `idempotency_conflict`; {@link RateLimitedError} when too many jobs of the account wait.
     */
    async submit(request: SubmitBatchRequest): Promise<SubmittedBatch> {
      const { accountId, idempotency, inputs } = request;
      const record = await submissions.firstOfKey(
        () => store.batches.findRepeat({ accountId, idempotency, createdAtMs: clock.now() }),
        async () => {
          const checked = await submissions.check(request, inputs);
          return checked.withFiles(() => submitChecked(request, checked));
        },
      );
      const webhookSecret = await readGeneratedSecret(store.webhooks, record.webhookId);
      return { ...(await viewOf(record)), webhookSecret };
    },
    /**
     * Cancels a batch. Resolves when the ends of all its jobs are durable.
     * @throws {ServiceError} `not_found`, `job_not_cancellable`, `cluster_unavailable`.
     */
    async cancel(accountId: string, batchId: string): Promise<BatchView> {
      // A batch can be read once it is stored, before its jobs are in the registry.
      await submissions.settled(batchId);
      const record = await find(accountId, batchId);
      const unfinished = [...(batches.get(batchId)?.jobs.values() ?? [])];
      if (unfinished.every((job) => job.hasEnded) && (await elsewhere(record)).length === 0) {
        throw new ServiceError("job_not_cancellable", `The batch is already ${batchStatusOf(record)}`);
      }
      const noted = jobs.persist(store.batches.cancel(batchId, clock.now()));
      cancelAll(unfinished);
      await noted;
      await jobs.settled(unfinished);
      const left = await elsewhere(await find(accountId, batchId));
      await Promise.all(left.map((job) => job.cancel()));
      return get(accountId, batchId);
    },
    /**
     * Continues the batches of restored jobs (default: all jobs). Completes a cancellation that a restart interrupted.
     */
    async restore(restored?: readonly ActiveJob[]): Promise<void> {
      const ids = restored?.flatMap(({ batchId }) => batchId ?? []);
      const records = new Map((await store.batches.unfinished(ids)).map((batch) => [batch.id, batch]));
      const parked: ActiveJob[] = [];
      for (const job of restored ?? jobs.list()) {
        const record = job.batchId === null ? undefined : records.get(job.batchId);
        if (record === undefined || job.hasEnded || job.isDropped) continue;
        add(record, job);
        if (!job.holdsQuota) parked.push(job);
      }
      gate.enter(parked);
      cancelEnded(records.values());
    },
    /** Ids of the batches with unfinished jobs on this coordinator. */
    get activeIds(): string[] {
      return [...batches.keys()];
    },
    /** Cancels the jobs here of those batches that are cancelled, or that are `fail_fast` and have a failed job. */
    async cancelEnded(ids: readonly string[]): Promise<void> {
      const here = ids.filter((id) => batches.has(id));
      if (here.length > 0) cancelEnded(await store.batches.unfinished(here));
    },
  };
}

/** The states of a batch. `pending`: no job has started. */
export const BATCH_STATUSES = ["pending", "running", "completed", "failed", "cancelled"] as const;
type BatchStatus = (typeof BATCH_STATUSES)[number];

type StateCounts = Readonly<Record<JobState, number>>;

export function countStates(jobs: readonly { readonly state: JobState }[]): StateCounts {
  const counts = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
  for (const { state } of jobs) counts[state] += 1;
  return counts;
}

/**
 * Returns the state of a batch. Once all jobs have ended: `cancelled` if its client cancelled it, else `failed` if a
 * job failed or timed out, else `completed` if one completed, else `cancelled`.
 */
export function batchStatusOf(batch: Pick<BatchRecord, "jobs" | "cancelledAtMs">): BatchStatus {
  const counts = countStates(batch.jobs);
  if (batch.jobs.some(({ state }) => !isTerminal(state))) {
    return counts.pending + counts.queued === batch.jobs.length ? "pending" : "running";
  }
  if (batch.cancelledAtMs !== null) return "cancelled";
  if (counts.failed + counts.timeout > 0) return "failed";
  return counts.completed > 0 ? "completed" : "cancelled";
}
