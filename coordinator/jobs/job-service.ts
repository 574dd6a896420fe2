import type { Clock } from "../../shared/clock.ts";
import { ClusterUnavailableError, ServiceError } from "../../shared/errors.ts";
import { isTerminal, type JobState } from "../../shared/job-state.ts";
import type { JobQuota } from "../quotas/job-quota.ts";
import { NotOwnerError } from "../store/cluster-store.ts";
import type { JobFilter, JobRecord, ListedJob, NewJob } from "../store/jobs/job-store.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import { readGeneratedSecret, readWebhookLog } from "../webhooks/webhook-log.ts";
import type { ActiveJob } from "./active-job.ts";
import { JobFeed, type Feed } from "./feed.ts";
import type { FeedPosition } from "./feed-position.ts";
import { feedEndingOf } from "./job-ending.ts";
import type { JobRegistry } from "./job-registry.ts";
import type { JobRouter } from "./job-router.ts";
import type { JobWait, JobWaiting } from "./job-waiting.ts";
import { SharedFeeds } from "./shared-feeds.ts";
import type { JobHandle, JobView, SubmitRequest } from "./submitted-job.ts";
import type { CheckedSubmission, Submissions } from "./submissions.ts";

export interface JobServiceDeps {
  readonly store: Pick<Store, "jobs" | "webhooks">;
  readonly jobs: JobRegistry;
  readonly submissions: Submissions;
  readonly jobQuota: JobQuota;
  readonly clock: Pick<Clock, "now">;
  /** Removes prompt and answer of an ended job for good; of another one, a sweep after its end does. */
  readonly removeContent: (jobId: string) => Promise<void>;
  /** Why a job waits; null once it runs or has ended. */
  readonly explainWait: (job: ActiveJob) => JobWaiting | null;
  /** Jobs that other coordinators have; absent for one that is alone. */
  readonly router?: JobRouter;
}

/** What the API builds on; see {@link JobService}. */
export type JobApi = Pick<JobService, keyof JobService>;

/** What clients can do with jobs. Another account's job does not exist for them. */
export class JobService {
  readonly #deps: JobServiceDeps;
  /** Readers of one ended job at the same time share its feed. */
  readonly #ended = new SharedFeeds();

  constructor(deps: JobServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when the job is durable and its price held.
   * @throws {ServiceError} `cargo_not_found`, `cargo_not_allowed`, `validation_failed`, `insufficient_credits`, `key_credits_exceeded`, `idempotency_conflict`, and for an answer
   * `not_found` and `conversation_busy`; {@link RateLimitedError} when the account has as many unfinished jobs as it may.
   */
  async submit(request: SubmitRequest): Promise<JobHandle> {
    const { store, submissions, clock } = this.#deps;
    const { accountId, idempotency, input, waitLimitMs } = request;
    const record = await submissions.firstOfKey(
      () => store.jobs.findRepeat({ accountId, idempotency, createdAtMs: clock.now() }),
      async () => {
        const checked = await submissions.check(request, [{ path: "input", input }], waitLimitMs);
        return checked.withFiles(() => this.#store(request, checked));
      },
    );
    return this.#handle(record);
  }

  /** The job of a submission with this Idempotency-Key that came since `sinceMs`, a day ago or less; undefined if there is none. */
  async findSubmitted(accountId: string, key: string, sinceMs: number): Promise<JobHandle | undefined> {
    const { jobs } = this.#deps.store;
    const record = await jobs.findRepeat({ accountId, idempotency: { key, bodyHash: key }, createdAtMs: sinceMs });
    return record && this.#handle(record);
  }

  async #handle(record: JobRecord): Promise<JobHandle> {
    const { id, accountId, webhookId } = record;
    return {
      record,
      webhookSecret: await readGeneratedSecret(this.#deps.store.webhooks, webhookId),
      openFeed: () => this.openFeed(accountId, id),
      cancel: () => this.cancel(accountId, id),
    };
  }

  /** @throws {ServiceError} `not_found` */
  async get(accountId: string, jobId: string): Promise<JobView> {
    const record = await this.#find(accountId, jobId);
    const active = this.#deps.jobs.get(jobId);
    if (active === undefined) return this.#viewFromElsewhere(record);
    return this.#view({ ...record, ...liveFacts(active) }, this.#deps.explainWait(active));
  }

  /** State of an unfinished job and why it waits, from memory; null for one that has ended. @throws {ServiceError} `not_found`, `cluster_unavailable` */
  async explain(accountId: string, jobId: string): Promise<JobWait | null> {
    const active = await this.#findActive(accountId, jobId);
    if (active !== undefined) return { state: active.state, waiting: this.#deps.explainWait(active) };
    const remote = await this.#deps.router?.find(jobId);
    return (await remote?.describe()) ?? null;
  }

  list(accountId: string, page: Page, filter: JobFilter): Promise<{ jobs: ListedJob[]; total: number }> {
    return this.#deps.store.jobs.list(accountId, page, filter);
  }

  /** Resolves when the end is durable. @throws {ServiceError} `not_found`, `job_not_cancellable`. */
  async cancel(accountId: string, jobId: string): Promise<JobState> {
    const job = await this.#findActive(accountId, jobId);
    const cancelled = job === undefined || job.hasEnded ? undefined : await this.#cancelHere(job);
    if (cancelled !== undefined) return cancelled;
    const elsewhere = await this.#cancelElsewhere(accountId, jobId);
    if (elsewhere !== null) return elsewhere;
    const { state } = await this.#find(accountId, jobId);
    const shown = isTerminal(state) ? state : (job?.state ?? state);
    throw new ServiceError("job_not_cancellable", `The job is ${shown} already`);
  }

  /**
   * Cancels a job that has not ended; removes prompt and answer of one that has, and resolves with null. Its facts stay. May be repeated.
   * @throws {ServiceError} `not_found`
   */
  async delete(accountId: string, jobId: string): Promise<JobState | null> {
    const job = await this.#findActive(accountId, jobId);
    if (job !== undefined && !job.hasEnded) return this.cancel(accountId, jobId);
    if (job !== undefined) await this.#deps.jobs.settled([job]);
    const elsewhere = await this.#cancelElsewhere(accountId, jobId);
    if (elsewhere !== null) return elsewhere;
    await this.assertOwn(accountId, jobId);
    await this.#deps.removeContent(jobId);
    return null;
  }

  /**
   * Notes that prompt and answer of a job are not kept: {@link delete} removes them at its end, and the next sweep if nobody calls that,
   * also after a crash. Resolves when that is durable. @throws {ServiceError} `not_found`
   */
  async keepUntilEnd(accountId: string, jobId: string): Promise<void> {
    await this.assertOwn(accountId, jobId);
    await this.#deps.removeContent(jobId);
  }

  /** Resolves if the job is the account's, without reading the job. @throws {ServiceError} `not_found` */
  async assertOwn(accountId: string, jobId: string): Promise<void> {
    if ((await this.#findActive(accountId, jobId)) !== undefined) return;
    if ((await this.#deps.store.jobs.accountOf(jobId)) !== accountId) throw noSuchJob(jobId);
  }

  /**
   * The job's one feed: live while the job is unfinished, else read from storage. `after`: see `RemoteJob.openFeed`.
   * @throws {ServiceError} `not_found`; `content_removed` once the output was removed.
   */
  async openFeed(accountId: string, jobId: string, after?: FeedPosition): Promise<Feed> {
    const active = await this.#findActive(accountId, jobId);
    if (active !== undefined) {
      this.#deps.jobs.noteReader(jobId);
      await active.feed.load();
      return active.feed;
    }
    let record = await this.#find(accountId, jobId);
    if (!isTerminal(record.state)) {
      const remote = await this.#deps.router?.find(jobId);
      if (remote !== undefined) return remote.openFeed(after);
      record = await this.#find(accountId, jobId);
    }
    if (record.outputRemovedAtMs !== null) {
      const atTime = new Date(record.outputRemovedAtMs).toISOString();
      throw new ServiceError("content_removed", `The output of job "${jobId}" was removed at ${atTime}`);
    }
    return this.#ended.open(jobId, async () => {
      const parts = await this.#deps.store.jobs.feed(jobId);
      return new JobFeed(jobId, parts, feedEndingOf(record));
    });
  }

  /** Takes a place of the account, and returns it if no job is made. */
  async #store({ idempotency, answer, isClientBound }: SubmitRequest, checked: CheckedSubmission): Promise<JobRecord> {
    const { store, jobs, submissions, jobQuota } = this.#deps;
    const { cargo, webhook, apiKey, postings, maxJobs } = checked;
    const [submitted] = await checked.newJobs(isClientBound);
    if (submitted === undefined) throw new Error("A submission of one input made no job");
    const { accountId } = submitted;
    jobQuota.enter(accountId, maxJobs);
    return submissions.commit([submitted.id], async () => {
      const offer = jobs.offer(submitted, cargo);
      const assigned = offer.islandId === null ? {} : { assignedTo: offer.islandId };
      const link = answer === undefined ? {} : { answer };
      const newJob: NewJob = { ...submitted, idempotency, webhook, apiKey, postings, maxJobs, ...assigned, ...link };
      let isCreated = false;
      try {
        const { created, job } = await store.jobs.submit(newJob);
        isCreated = created;
        return job;
      } finally {
        if (isCreated) offer.accept();
        else {
          offer.withdraw();
          jobQuota.leave(accountId);
        }
      }
    });
  }

  async #view(record: JobRecord, waiting: JobWaiting | null): Promise<JobView> {
    return { ...record, webhook: await readWebhookLog(this.#deps.store.webhooks, record.webhookId), waiting };
  }

  /** A job that is not here: it has ended, or another coordinator has it. */
  async #viewFromElsewhere(record: JobRecord): Promise<JobView> {
    const remote = isTerminal(record.state) ? undefined : await this.#deps.router?.find(record.id);
    if (remote === undefined) return this.#view(await this.#asEnded(record), null);
    try {
      const facts = await remote.describe();
      if (facts === null) return await this.#view(await this.#asEnded(record), null);
      const { waiting, ...live } = facts;
      return await this.#view({ ...record, ...live }, waiting);
    } catch (error) {
      if (!(error instanceof ClusterUnavailableError)) throw error;
      // What is stored is true, if not the newest.
      return this.#view(record, null);
    }
  }

  /** The record again, if the job ended since it was read. */
  async #asEnded(record: JobRecord): Promise<JobRecord> {
    if (isTerminal(record.state) || this.#deps.router === undefined) return record;
    return this.#find(record.accountId, record.id);
  }

  /** Undefined when another coordinator has the job by now. */
  async #cancelHere(job: ActiveJob): Promise<JobState | undefined> {
    try {
      await this.#deps.jobs.cancel(job.id);
      return job.state;
    } catch (error) {
      if (error instanceof NotOwnerError) return undefined;
      throw error;
    }
  }

  /** Cancels a job that another coordinator has. Null when none has it. @throws {ServiceError} `not_found`, `cluster_unavailable` */
  async #cancelElsewhere(accountId: string, jobId: string): Promise<JobState | null> {
    const { router } = this.#deps;
    if (router === undefined || isTerminal((await this.#find(accountId, jobId)).state)) return null;
    const remote = await router.find(jobId);
    return remote === undefined ? null : remote.cancel();
  }

  /** The unfinished job; undefined when it has ended, or is another account's. */
  async #findActive(accountId: string, jobId: string): Promise<ActiveJob | undefined> {
    const { jobs, submissions } = this.#deps;
    await submissions.settled(jobId);
    const job = jobs.get(jobId);
    return job?.accountId === accountId ? job : undefined;
  }

  async #find(accountId: string, jobId: string): Promise<JobRecord> {
    const record = await this.#deps.store.jobs.get(jobId);
    if (record === undefined || record.accountId !== accountId) throw noSuchJob(jobId);
    return record;
  }
}

/** What is known of an unfinished job before it is stored. */
function liveFacts(job: ActiveJob | undefined): Partial<JobRecord> {
  if (job === undefined || job.hasEnded) return {};
  const { state, attempt, startedAtMs } = job;
  return { state, attempt, startedAtMs };
}

function noSuchJob(jobId: string): ServiceError {
  return new ServiceError("not_found", `There is no job "${jobId}"`);
}
