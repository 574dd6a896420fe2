import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import { isTerminal, type JobState } from "../../shared/job-state.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { checkInput } from "../catalog/input-check.ts";
import { holdPostings } from "../credits/postings.ts";
import { resolveLimits } from "../quotas/account-limits.ts";
import type { JobQuota } from "../quotas/job-quota.ts";
import type { JobFilter, JobRecord, JobSummary, NewJob, SubmitOutcome } from "../store/job-store.ts";
import type { Store } from "../store/store.ts";
import { newWebhook } from "../webhooks/new-webhook.ts";
import { readGeneratedSecret, readWebhookLog } from "../webhooks/webhook-log.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { firstOfKey } from "./first-of-key.ts";
import { Feed, type FeedEnding } from "./feed.ts";
import type { JobService, JobView, SubmitRequest, SubmittedJob } from "./job-service.ts";
import { LiveJob, traitsOf } from "./live-job.ts";
import type { WaitingReport } from "./waiting.ts";

export interface LiveJobServiceDeps {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly dispatcher: Dispatcher;
  readonly jobQuota: JobQuota;
  readonly waiting: WaitingReport;
  readonly clock: Clock;
  /** Also take webhooks for private addresses, and over http. */
  readonly webhookAllowPrivate: boolean;
}

/** Jobs as clients see them: records from storage, with what only the running dispatcher knows (feeds, why a job waits). */
export class LiveJobService implements JobService {
  readonly #deps: LiveJobServiceDeps;
  /** Submissions that may be durable already while the dispatcher has not been given the job yet. */
  readonly #submitting = new Set<Promise<unknown>>();

  constructor(deps: LiveJobServiceDeps) {
    this.#deps = deps;
  }

  submit(request: SubmitRequest): Promise<SubmittedJob> {
    const submitted = this.#submit(request);
    this.#submitting.add(submitted);
    const forget = (): boolean => this.#submitting.delete(submitted);
    submitted.then(forget, forget);
    return submitted;
  }

  async #submit(request: SubmitRequest): Promise<SubmittedJob> {
    const { store, clock } = this.#deps;
    const { accountId, idempotency } = request;
    const record = await firstOfKey(
      () => store.jobs.findRepeat({ accountId, idempotency, createdAtMs: clock.now() }),
      () => this.#submitNew(request),
    );
    return { ...record, webhookSecret: await readGeneratedSecret(store.webhooks, record.webhookId) };
  }

  async #submitNew(request: SubmitRequest): Promise<JobRecord> {
    const { store, catalog, clock } = this.#deps;
    const entry = catalog.get(request.slug, request.accountId);
    checkInput(entry, request.input);
    const createdAtMs = clock.now();
    const webhook = newWebhook(request.webhook, { allowPrivate: this.#deps.webhookAllowPrivate, nowMs: createdAtMs });
    const waitLimitMs = Math.min(entry.waitLimitMs, request.waitLimitMs ?? entry.waitLimitMs);
    const storeJob = request.store ?? ((newJob: NewJob) => store.jobs.submit(newJob));
    const newJob: NewJob = {
      id: newId("job", createdAtMs),
      accountId: request.accountId,
      slug: entry.slug,
      workloadId: entry.workloadId,
      input: request.input,
      priority: request.priority,
      priceMicro: entry.priceMicro,
      createdAtMs,
      waitDeadlineMs: createdAtMs + waitLimitMs,
      postings: holdPostings(request.accountId, [entry.priceMicro]),
      idempotency: request.idempotency,
      webhook,
    };
    const { concurrentJobs } = resolveLimits(await store.accounts.limits(request.accountId));
    return this.#take(newJob, entry, concurrentJobs, storeJob);
  }

  async get(accountId: string, jobId: string): Promise<JobView> {
    const record = await this.#find(accountId, jobId);
    const job = this.#deps.dispatcher.jobs.get(jobId);
    const webhook = await readWebhookLog(this.#deps.store.webhooks, record.webhookId);
    return { ...record, webhook, waiting: job === undefined ? null : this.#deps.waiting.of(job) };
  }

  list(
    accountId: string,
    page: { readonly limit: number; readonly offset: number },
    filter: JobFilter,
  ): Promise<{ jobs: JobSummary[]; total: number }> {
    return this.#deps.store.jobs.list(accountId, page, filter);
  }

  async cancel(accountId: string, jobId: string): Promise<JobState> {
    const job = await this.#findLive(accountId, jobId);
    if (job === undefined || job.hasEnded) {
      const { state } = await this.#find(accountId, jobId);
      const shown = isTerminal(state) ? state : (job?.state ?? state);
      throw new ServiceError("job_not_cancellable", `The job is ${shown} already`);
    }
    await this.#deps.dispatcher.stop(job, "cancelled", { event: "cancel" });
    return job.state;
  }

  async assertOwn(accountId: string, jobId: string): Promise<void> {
    if ((await this.#findLive(accountId, jobId)) !== undefined) return;
    if ((await this.#deps.store.jobs.accountOf(jobId)) !== accountId) throw noSuchJob(jobId);
  }

  async openFeed(accountId: string, jobId: string): Promise<Feed> {
    const live = await this.#findLive(accountId, jobId);
    if (live !== undefined) return live.feed;
    const record = await this.#find(accountId, jobId);
    const { parts } = await this.#deps.store.jobs.feed(jobId, record.attempt);
    return new Feed(jobId, parts, endingOf(record));
  }

  /** Takes a place of the account's, and gives it back when no job comes of it. */
  async #take(
    newJob: NewJob,
    cargo: CatalogEntry,
    limit: number,
    storeJob: (newJob: NewJob) => Promise<SubmitOutcome>,
  ): Promise<JobRecord> {
    const { dispatcher, jobQuota } = this.#deps;
    jobQuota.enter(newJob.accountId, limit);
    let outcome: SubmitOutcome | null = null;
    try {
      outcome = await storeJob(newJob);
    } finally {
      if (outcome?.created !== true) jobQuota.leave(newJob.accountId);
    }
    if (outcome.created) {
      const job = new LiveJob(outcome.job);
      job.hasPlace = true;
      job.input = newJob.input;
      job.cargo = cargo;
      job.traits = traitsOf(newJob.input, cargo.isChat);
      job.announce("pending");
      dispatcher.admit(job);
    }
    return outcome.job;
  }

  /** The unfinished job; undefined when it has ended, or is not the account's. */
  async #findLive(accountId: string, jobId: string): Promise<LiveJob | undefined> {
    const { jobs } = this.#deps.dispatcher;
    if (!jobs.has(jobId)) await Promise.allSettled(this.#submitting);
    const job = jobs.get(jobId);
    return job?.accountId === accountId ? job : undefined;
  }

  /** Another account's job does not exist. */
  async #find(accountId: string, jobId: string): Promise<JobRecord> {
    const record = await this.#deps.store.jobs.get(jobId);
    if (record === undefined || record.accountId !== accountId) throw noSuchJob(jobId);
    return record;
  }
}

function noSuchJob(jobId: string): ServiceError {
  return new ServiceError("not_found", `There is no job "${jobId}"`);
}

/** The last event of a job that ended, as its first readers got it. @throws for an unfinished one, which has a live feed. */
function endingOf(record: JobRecord): FeedEnding {
  if (!isTerminal(record.state)) throw new Error(`Job ${record.id} is ${record.state} and nobody has it`);
  if (record.state === "completed") {
    return {
      type: "done",
      usage: record.usage ?? { promptTokens: 0, completionTokens: 0 },
      finishReason: record.finishReason ?? "stop",
      creditsUsedMicro: record.creditsUsedMicro,
      output: record.output,
    };
  }
  if (record.error !== null) return { type: "error", ...record.error };
  return { type: "error", code: "cancelled", message: "The job was cancelled", retryable: false };
}
