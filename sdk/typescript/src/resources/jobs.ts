import { AtollError } from "../errors.ts";
import type { Http } from "../http.ts";
import type { StreamedEvent } from "../job-events.ts";
import { streamJob, type StreamOptions } from "../job-stream.ts";
import { waitForJob, type WaitOptions } from "../job-wait.ts";
import { Pages } from "../pages.ts";
import { randomKey } from "../random-key.ts";
import type { CancelledJob, Job, JobOutput, JobStatus, ListedJob, SubmitJob, SubmittedJob } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export interface SubmitOptions extends CallOptions {
  /** Key of the submission. A repeat with the same key and body within 24 h returns the first job. Default: a new key per call. */
  readonly idempotencyKey?: string | undefined;
}

export interface JobFilter {
  readonly status?: JobStatus | readonly JobStatus[] | undefined;
  /** Slug of a Cargo. */
  readonly workload?: string | undefined;
  /** Id of a batch. */
  readonly batch?: string | undefined;
  /** Jobs per request, 1 to 100; default 100. */
  readonly pageSize?: number | undefined;
  /** Number of the newest jobs to skip. */
  readonly offset?: number | undefined;
}

export class Jobs {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Submits a job. Resolves when the job is durable. The call is retried after a broken connection, and a repeat does
   * not create a second job.
   */
  async submit(job: SubmitJob, { idempotencyKey, ...options }: SubmitOptions = {}): Promise<SubmittedJob> {
    const traits = { isIdempotent: true, headers: { "idempotency-key": idempotencyKey ?? randomKey() } };
    return (await this.#http.call("post", "/jobs", { body: job }, options, traits)).data;
  }

  /** Submits a job and waits for it; see {@link wait}. */
  async run(job: SubmitJob, options: WaitOptions & SubmitOptions = {}): Promise<Job> {
    const { timeoutMs, idempotencyKey, ...rest } = options;
    const { id } = await this.submit(job, { ...rest, idempotencyKey });
    return this.wait(id, { ...rest, timeoutMs });
  }

  async get(id: string, options?: CallOptions): Promise<Job> {
    return (await this.#http.call("get", "/jobs/{id}", { path: { id } }, options)).data;
  }

  /** Lists jobs, newest first. */
  list(filter: JobFilter = {}, options?: CallOptions): Pages<ListedJob> {
    const { status, workload, batch, pageSize: limit = 100, offset: firstOffset } = filter;
    const states = typeof status === "object" ? status.join(",") : status;
    const load = (offset: number) =>
      this.#http.call("get", "/jobs", { query: { limit, offset, status: states, workload, batch } }, options);
    return new Pages(load, ({ id }) => id, firstOffset);
  }

  /**
   * Cancels a job, which keeps its output so far. Also succeeds if it is already cancelled.
   * @throws {ValidationError} `job_not_cancellable` if it ended in another state.
   */
  async cancel(id: string, options?: CallOptions): Promise<CancelledJob> {
    try {
      return (await this.#http.call("delete", "/jobs/{id}", { path: { id } }, options)).data;
    } catch (error) {
      if (!(error instanceof AtollError) || error.code !== "job_not_cancellable") throw error;
      const { status } = await this.get(id, options);
      if (status === "cancelled") return { id, status };
      throw error;
    }
  }

  /**
   * Permanently removes the input and output of an ended job; cancel an unfinished job first. Status, usage and charge
   * stay. Also succeeds if they are already removed. @throws {ValidationError} if the job has not ended.
   */
  async deleteContent(id: string, options?: CallOptions): Promise<void> {
    await this.#http.call("delete", "/jobs/{id}/content", { path: { id } }, options);
  }

  /** Returns the job's output so far, even while it runs. */
  async output(id: string, options?: CallOptions): Promise<JobOutput> {
    return (await this.#http.call("get", "/jobs/{id}/output", { path: { id } }, options)).data;
  }

  /** Waits for the job to complete. @throws {JobFailedError} if it ends in another state. */
  wait(id: string, options: WaitOptions = {}): Promise<Job> {
    return waitForJob(this.#http, id, options);
  }

  /** Streams all events of the job to its one `done` or `error`. Reconnects when the connection drops. */
  stream(id: string, options: StreamOptions = {}): AsyncGenerator<StreamedEvent, void, undefined> {
    return streamJob(this.#http, id, options);
  }
}
