import { ServiceError } from "../../../shared/errors.ts";
import { isTerminal, type JobState } from "../../../shared/job-state.ts";
import type { Catalog } from "../../../coordinator/catalog/catalog.ts";
import { checkInput } from "../../../coordinator/catalog/input-check.ts";
import { JobFeed, type Feed, type FeedEnding } from "../../../coordinator/jobs/feed.ts";
import type { JobWait } from "../../../coordinator/jobs/job-waiting.ts";
import type { JobApi } from "../../../coordinator/jobs/job-service.ts";
import type { JobHandle, JobView, SubmitRequest } from "../../../coordinator/jobs/submitted-job.ts";
import type { JobFilter, ListedJob } from "../../../coordinator/store/jobs/job-store.ts";

/** A feed that counts its listeners. */
export class WatchedFeed extends JobFeed {
  listeners = 0;

  override subscribe(listener: () => void): () => void {
    const unsubscribe = super.subscribe(listener);
    this.listeners += 1;
    let isSubscribed = true;
    return () => {
      if (isSubscribed) this.listeners -= 1;
      isSubscribed = false;
      return unsubscribe();
    };
  }
}

export const T0 = 1_767_225_600_000;

export function makeJob(override: Partial<JobView> = {}): JobView {
  return {
    id: "job_1",
    accountId: "user_1",
    batchId: null,
    slug: "tiny",
    workloadId: 7,
    input: { prompt: "hello" },
    jobClass: "batch",
    share: null,
    priority: 0,
    priceMicro: 1_500_000,
    rates: null,
    terms: null,
    state: "pending",
    attempt: 0,
    refusals: 0,
    islandId: null,
    createdAtMs: T0,
    startedAtMs: null,
    completedAtMs: null,
    webhookId: null,
    webhook: null,
    waitDeadlineMs: T0 + 60_000,
    isClientBound: false,
    ignoredParameters: [],
    output: undefined,
    usage: null,
    creditsUsedMicro: 0,
    finishReason: null,
    timings: null,
    error: null,
    waiting: null,
    placement: null,
    audit: null,
    inputRemovedAtMs: null,
    outputRemovedAtMs: null,
    ...override,
  };
}

export const DONE: Extract<FeedEnding, { type: "done" }> = {
  type: "done",
  usage: { promptTokens: 3, completionTokens: 2 },
  finishReason: "stop",
  creditsUsedMicro: 1_500_000,
  output: undefined,
};

/** Jobs whose feeds a test writes. It records its calls. */
export class ScriptedJobs implements JobApi {
  readonly jobs = new Map<string, JobView>();
  readonly feeds = new Map<string, WatchedFeed>();
  readonly submitted: SubmitRequest[] = [];
  readonly #byKey = new Map<string, string>();
  readonly cancelled: string[] = [];
  readonly listed: { page: unknown; filter: JobFilter }[] = [];
  /** Called after each submission with the new job's feed. */
  onSubmit: (feed: WatchedFeed, job: JobView) => void = () => undefined;
  /** Feeds that were requested. */
  opened = 0;
  /** Promise of a test, which delays a submission or the opening of a feed. */
  submitGate: Promise<void> = Promise.resolve();
  feedGate: Promise<void> = Promise.resolve();
  /** Error that the next call of any method throws. */
  failure: unknown;
  readonly #catalog: Catalog;
  #count = 0;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Adds a job with its feed. */
  add(job: JobView, feed = new WatchedFeed(job.id)): WatchedFeed {
    this.jobs.set(job.id, job);
    this.feeds.set(job.id, feed);
    return feed;
  }

  async submit(request: SubmitRequest): Promise<JobHandle> {
    this.#fail();
    const entry = this.#catalog.get(request.slug);
    const { input } = checkInput(entry, request.input);
    this.submitted.push({ ...request, input });
    this.#count += 1;
    const { accountId, slug, priority, ignoredParameters = [] } = request;
    const { workloadId } = entry;
    const id = `job_new${this.#count}`;
    const job = makeJob({ id, accountId, slug, workloadId, input, priority, ignoredParameters });
    const feed = this.add(job);
    if (request.idempotency !== null) this.#byKey.set(request.idempotency.key, job.id);
    this.onSubmit(feed, job);
    await this.submitGate;
    return this.#handle(job);
  }

  async findSubmitted(_accountId: string, key: string): Promise<JobHandle | undefined> {
    const job = this.jobs.get(this.#byKey.get(key) ?? "");
    return job && this.#handle(job);
  }

  #handle(job: JobView): JobHandle {
    const { id, accountId } = job;
    return {
      record: job,
      webhookSecret: null,
      openFeed: () => this.openFeed(accountId, id),
      cancel: () => this.cancel(accountId, id),
    };
  }

  async get(accountId: string, jobId: string): Promise<JobView> {
    return this.#find(accountId, jobId);
  }

  async explain(accountId: string, jobId: string): Promise<JobWait | null> {
    const { state, waiting } = this.#find(accountId, jobId);
    return { state, waiting };
  }

  async list(
    accountId: string,
    page: { limit: number; offset: number },
    filter: JobFilter,
  ): Promise<{ jobs: ListedJob[]; total: number }> {
    this.#fail();
    this.listed.push({ page, filter });
    const own = [...this.jobs.values()].filter((job) => job.accountId === accountId);
    return { jobs: own.slice(page.offset, page.offset + page.limit), total: own.length };
  }

  async cancel(accountId: string, jobId: string): Promise<JobState> {
    const job = this.#find(accountId, jobId);
    if (isTerminal(job.state)) throw new ServiceError("job_not_cancellable", `The job is already ${job.state}`);
    this.cancelled.push(jobId);
    this.jobs.set(jobId, { ...job, state: "cancelled" });
    // Readers see the end only when it is durable, as in production.
    await new Promise((resolve) => setImmediate(resolve));
    const feed = this.feeds.get(jobId);
    if (feed?.ending === null) {
      feed.end({ type: "error", code: "cancelled", message: "The job was cancelled", retryable: false });
    }
    return "cancelled";
  }

  async deleteContent(accountId: string, jobId: string): Promise<void> {
    const job = this.#find(accountId, jobId);
    this.jobs.set(jobId, { ...job, input: {}, output: undefined, inputRemovedAtMs: T0, outputRemovedAtMs: T0 });
  }

  async keepUntilEnd(accountId: string, jobId: string): Promise<void> {
    this.#find(accountId, jobId);
  }

  async assertOwn(accountId: string, jobId: string): Promise<void> {
    this.#find(accountId, jobId);
  }

  async openFeed(accountId: string, jobId: string): Promise<Feed> {
    this.#find(accountId, jobId);
    this.opened += 1;
    await this.feedGate;
    return this.feeds.get(jobId) as WatchedFeed;
  }

  #find(accountId: string, jobId: string): JobView {
    this.#fail();
    const job = this.jobs.get(jobId);
    if (job === undefined || job.accountId !== accountId) {
      throw new ServiceError("not_found", `There is no job "${jobId}"`);
    }
    return job;
  }

  #fail(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
  }
}
