import type { Clock } from "../../shared/clock.ts";
import { ClusterUnavailableError, ServiceError, ValidationError } from "../../shared/errors.ts";
import { isTerminal, type JobState } from "../../shared/job-state.ts";
import { NotOwnerError } from "../store/cluster-store.ts";
import type { KeyedRequest } from "../store/jobs/idempotency.ts";
import type { JobFilter, JobRecord, ListedJob } from "../store/jobs/job-store.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import { readGeneratedSecret, readWebhookLog } from "../webhooks/owned-webhook.ts";
import type { ActiveJob } from "./active-job.ts";
import { JobFeed, type Feed } from "./feed.ts";
import type { FeedPosition } from "./feed-position.ts";
import { feedEndingOf } from "./job-ending.ts";
import type { JobPlacement } from "./job-placement.ts";
import type { JobRegistry } from "./job-registry.ts";
import type { JobRouter } from "./job-router.ts";
import type { JobWait, JobWaiting } from "./job-waiting.ts";
import type { JobHandle, JobView, SubmitRequest } from "./submitted-job.ts";
import type { CheckedSubmission, Submissions } from "./submissions.ts";

export type JobApi = ReturnType<typeof openJobService>;

/**
 * Performs the operations of clients on jobs. Jobs of other accounts are not found.
 * @param removeContent Removes input and output of an ended job. For an unfinished job, a sweep removes them after its
 * end.
 */
export function openJobService(
  clock: Clock,
  store: Pick<Store, "jobs" | "webhooks"> & { readonly audits: Pick<Store["audits"], "ofJob"> },
  jobs: JobRegistry,
  submissions: Submissions,
  router: JobRouter,
  explainWait: (job: ActiveJob) => JobWaiting | null,
  placementOf: (jobId: string, islandId: string | null) => JobPlacement | null,
  removeContent: (jobId: string) => Promise<void>,
) {
  const shareFeed = sharedFeeds();

  /** `feed`: see `JobRegistry.submit`. */
  async function handleOf(record: JobRecord, feed: Feed | null): Promise<JobHandle> {
    const { id, accountId, webhookId } = record;
    return {
      record,
      webhookSecret: await readGeneratedSecret(store.webhooks, webhookId),
      openFeed: () => (feed === null ? openFeed(accountId, id) : Promise.resolve(feed)),
      cancel: () => cancel(accountId, id),
    };
  }

  async function findRepeat(request: KeyedRequest): Promise<JobHandle | undefined> {
    const record = await store.jobs.findRepeat(request);
    return record && handleOf(record, null);
  }

  async function submitChecked(request: SubmitRequest, checked: CheckedSubmission): Promise<JobHandle> {
    const { idempotency, answer, isClientBound } = request;
    const { cargo, webhook, apiKey, postings, maxJobs, inputs } = checked;
    const [submitted] = await checked.newJobs(isClientBound);
    const [{ input } = {}] = inputs;
    if (submitted === undefined || input === undefined) throw new Error("A submission of one input created no job");
    const link = answer === undefined ? {} : { answer };
    const newJob = { ...submitted, input, idempotency, webhook, apiKey, postings, maxJobs, ...link };
    const { stored, feed } = await submissions.commit([submitted.id], () =>
      jobs.submit(submitted, input, cargo, maxJobs, (islandId) =>
        store.jobs.submit(islandId === null ? newJob : { ...newJob, assignedTo: islandId }),
      ),
    );
    return handleOf(stored.job, feed);
  }

  /** Cancels the job. Resolves when the end is durable. @throws {ServiceError} `not_found`, `job_not_cancellable` */
  async function cancel(accountId: string, jobId: string): Promise<JobState> {
    const job = await findActive(accountId, jobId);
    const cancelled = job === undefined || job.hasEnded ? undefined : await cancelHere(job);
    if (cancelled !== undefined) return cancelled;
    const elsewhere = await cancelElsewhere(accountId, jobId);
    if (elsewhere !== null) return elsewhere;
    const { state } = await find(accountId, jobId);
    const currentState = isTerminal(state) ? state : (job?.state ?? state);
    throw new ServiceError(
      "job_not_cancellable",
      `The job is already ${currentState}. To remove its input and output, use DELETE /jobs/{id}/content`,
    );
  }

  /** Cancels a job of this coordinator. Returns undefined if another coordinator has the job now. */
  async function cancelHere(job: ActiveJob): Promise<JobState | undefined> {
    try {
      await jobs.cancel(job.id);
      return job.state;
    } catch (error) {
      if (error instanceof NotOwnerError) return undefined;
      throw error;
    }
  }

  /**
   * Cancels a job of another coordinator. Returns null if no other coordinator has the job. @throws {ServiceError}
   * `not_found`, `cluster_unavailable`
   */
  async function cancelElsewhere(accountId: string, jobId: string): Promise<JobState | null> {
    const remote = await router.find(jobId);
    if (remote === undefined) return null;
    await assertOwn(accountId, jobId);
    return remote.cancel();
  }

  /** Resolves if the account owns the job, without reading the job. @throws {ServiceError} `not_found` */
  async function assertOwn(accountId: string, jobId: string): Promise<void> {
    if ((await findActive(accountId, jobId)) !== undefined) return;
    if ((await store.jobs.accountOf(jobId)) !== accountId) throw noSuchJob(jobId);
  }

  /**
   * Opens the feed of a job: the live feed while the job is unfinished, else a feed from storage. `after`: see
   * `RemoteJob.openFeed`.
   * @throws {ServiceError} `not_found`; `content_removed` after the output was removed.
   */
  async function openFeed(accountId: string, jobId: string, after?: FeedPosition): Promise<Feed> {
    const active = await findActive(accountId, jobId);
    if (active !== undefined) {
      jobs.noteReader(jobId);
      await active.feed.load();
      return active.feed;
    }
    let record = await find(accountId, jobId);
    if (!isTerminal(record.state)) {
      const remote = await router.find(jobId);
      if (remote !== undefined) return remote.openFeed(after);
      record = await find(accountId, jobId);
    }
    if (record.outputRemovedAtMs !== null) {
      const removedAt = new Date(record.outputRemovedAtMs).toISOString();
      throw new ServiceError("content_removed", `The output of job "${jobId}" was removed at ${removedAt}`);
    }
    return shareFeed(jobId, async () => new JobFeed(jobId, await store.jobs.feed(jobId), feedEndingOf(record)));
  }

  async function viewOf(
    record: JobRecord,
    waiting: JobWaiting | null,
    placement = placementOf(record.id, record.islandId),
  ): Promise<JobView> {
    const [webhook, audit = null] = await Promise.all([
      readWebhookLog(store.webhooks, record.webhookId),
      isTerminal(record.state) ? store.audits.ofJob(record.id) : undefined,
    ]);
    return { ...record, webhook, audit, waiting, placement };
  }

  /** Returns the view of a job that has ended, or that another coordinator has. */
  async function viewFromElsewhere(record: JobRecord): Promise<JobView> {
    if (isTerminal(record.state)) return viewOf(record, null);
    const remote = await router.find(record.id);
    try {
      const facts = (await remote?.describe()) ?? null;
      // The job has ended since its record was read.
      if (facts === null) return await viewOf(await find(record.accountId, record.id), null);
      const { waiting, placement = null, ...live } = facts;
      return await viewOf({ ...record, ...live }, waiting, placement);
    } catch (error) {
      if (!(error instanceof ClusterUnavailableError)) throw error;
      // The stored facts are correct, but may be older than the facts of the job's owner.
      return viewOf(record, null);
    }
  }

  async function findActive(accountId: string, jobId: string): Promise<ActiveJob | undefined> {
    await submissions.settled(jobId);
    const job = jobs.get(jobId);
    return job?.accountId === accountId ? job : undefined;
  }

  async function find(accountId: string, jobId: string): Promise<JobRecord> {
    const record = await store.jobs.get(jobId);
    if (record === undefined || record.accountId !== accountId) throw noSuchJob(jobId);
    return record;
  }

  return {
    cancel,
    assertOwn,
    openFeed,
    /**
     * Submits a job. Resolves when the job is durable and its price held. @throws {ServiceError} `cargo_not_found`,
     * `cargo_not_allowed`, `validation_failed`, `insufficient_credits`, `key_credits_exceeded`, `idempotency_conflict`,
     * and for a conversation answer `not_found` and `conversation_busy`; {@link RateLimitedError} at the account's
     * limit of unfinished jobs.
     */
    async submit(request: SubmitRequest): Promise<JobHandle> {
      const { accountId, idempotency, input, waitLimitMs } = request;
      return submissions.firstOfKey(
        () => findRepeat({ accountId, idempotency, createdAtMs: clock.now() }),
        async () => {
          const checked = await submissions.check(request, [{ root: "input", input }], waitLimitMs);
          return checked.withFiles(() => submitChecked(request, checked));
        },
      );
    },
    /** Returns the job of a submission with this Idempotency-Key since `sinceMs`, at most a day ago. */
    async findSubmitted(accountId: string, key: string, sinceMs: number): Promise<JobHandle | undefined> {
      return findRepeat({ accountId, idempotency: { key, bodyHash: key }, createdAtMs: sinceMs });
    },
    /** Returns the view of a job. @throws {ServiceError} `not_found` */
    async get(accountId: string, jobId: string): Promise<JobView> {
      const record = await find(accountId, jobId);
      const active = jobs.get(jobId);
      if (active === undefined) return viewFromElsewhere(record);
      const { state, attempt, startedAtMs } = active;
      const placement = placementOf(jobId, active.islandId);
      // The newest state of the job may not be stored yet.
      const newest = { ...record, ...(!active.hasEnded && { state, attempt, startedAtMs }) };
      return viewOf(newest, explainWait(active), placement);
    },
    /**
     * Returns the state of an unfinished job and why it waits, from memory; null for an ended job.
     * @throws {ServiceError} `not_found`, `cluster_unavailable`
     */
    async explain(accountId: string, jobId: string): Promise<JobWait | null> {
      const active = await findActive(accountId, jobId);
      if (active !== undefined) return { state: active.state, waiting: explainWait(active) };
      const remote = await router.find(jobId);
      return (await remote?.describe()) ?? null;
    },
    list(accountId: string, page: Page, filter: JobFilter): Promise<{ jobs: ListedJob[]; total: number }> {
      return store.jobs.list(accountId, page, filter);
    },
    /**
     * Removes input and output of an ended job; other facts stay. May be repeated. @throws {ServiceError} `not_found`;
     * {@link ValidationError} for an unfinished job
     */
    async deleteContent(accountId: string, jobId: string): Promise<void> {
      const job = await findActive(accountId, jobId);
      if (job?.hasEnded === true) await jobs.settled([job]);
      const { state } = await find(accountId, jobId);
      if (!isTerminal(state)) {
        const message = `must be a job that has ended, but this job is ${state}. Cancel it first (DELETE /jobs/{id})`;
        throw new ValidationError([{ path: "id", message }]);
      }
      await removeContent(jobId);
    },
    /**
     * Marks input and output for removal after the job's end, by {@link deleteContent} or by the next sweep. The mark
     * survives a crash. Resolves when it is durable. @throws {ServiceError} `not_found`
     */
    async keepUntilEnd(accountId: string, jobId: string): Promise<void> {
      await assertOwn(accountId, jobId);
      await removeContent(jobId);
    },
  };
}

function noSuchJob(jobId: string): ServiceError {
  return new ServiceError("not_found", `There is no job "${jobId}"`);
}

/** Returns a function that opens feeds of ended jobs. All readers of a job share one feed while it is in use. */
function sharedFeeds(): (jobId: string, read: () => Promise<Feed>) => Promise<Feed> {
  const opened = new Map<string, WeakRef<Feed>>();
  const reading = new Map<string, Promise<Feed>>();
  const collected = new FinalizationRegistry<string>((jobId) => {
    if (opened.get(jobId)?.deref() === undefined) opened.delete(jobId);
  });

  async function readOnce(jobId: string, read: () => Promise<Feed>): Promise<Feed> {
    try {
      const feed = await read();
      opened.set(jobId, new WeakRef(feed));
      collected.register(feed, jobId);
      return feed;
    } finally {
      reading.delete(jobId);
    }
  }

  return (jobId, read) => {
    const open = opened.get(jobId)?.deref();
    if (open !== undefined) return Promise.resolve(open);
    const begun = reading.get(jobId) ?? readOnce(jobId, read);
    reading.set(jobId, begun);
    return begun;
  };
}
