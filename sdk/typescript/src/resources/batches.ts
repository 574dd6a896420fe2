import { AtollError } from "../errors.ts";
import type { Http } from "../http.ts";
import type { WaitOptions } from "../job-wait.ts";
import type { SubmitOptions } from "./jobs.ts";
import { poll } from "../polling.ts";
import { randomKey } from "../random-key.ts";
import type { Batch, SubmitBatch, SubmittedBatch } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";
import { Deadline } from "../timing.ts";

const ENDED: ReadonlySet<Batch["status"]> = new Set<Batch["status"]>(["completed", "failed", "cancelled"]);

export interface GetBatchOptions extends CallOptions {
  readonly include?: "output" | undefined;
  /** Index of the first job to return with its output, from 0. */
  readonly outputOffset?: number | undefined;
}

/** Batches: up to 100 jobs of one Cargo, submitted and cancelled together. */
export class Batches {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Submits all jobs or none. The call is retried after a broken connection, and a repeat does not create a second
   * batch.
   */
  async submit(batch: SubmitBatch, { idempotencyKey, ...options }: SubmitOptions = {}): Promise<SubmittedBatch> {
    const traits = { isIdempotent: true, headers: { "idempotency-key": idempotencyKey ?? randomKey() } };
    return (await this.#http.call("post", "/jobs/batch", { body: batch }, options, traits)).data;
  }

  /**
   * Returns a batch. `jobs` are in the order of the inputs; get or stream each by its id. With `include: "output"` the
   * jobs from `outputOffset` on contain their outputs, up to the size limit of a response. `next_output_offset` is the
   * offset for the next call.
   */
  async get(id: string, { include, outputOffset, ...options }: GetBatchOptions = {}): Promise<Batch> {
    const query = { include, output_offset: outputOffset };
    return (await this.#http.call("get", "/jobs/batch/{id}", { path: { id }, query }, options)).data;
  }

  /** Cancels all unfinished jobs. Also succeeds if the batch is already cancelled. @throws {ValidationError} if all jobs have ended. */
  async cancel(id: string, options?: CallOptions): Promise<Batch> {
    try {
      return (await this.#http.call("delete", "/jobs/batch/{id}", { path: { id } }, options)).data;
    } catch (error) {
      if (!(error instanceof AtollError) || error.code !== "job_not_cancellable") throw error;
      const batch = await this.get(id, options);
      if (batch.status === "cancelled") return batch;
      throw error;
    }
  }

  /** Waits until all jobs have ended in any state; see `counts`. @throws {TimeoutError} after `timeoutMs`. */
  async wait(id: string, { timeoutMs, ...options }: WaitOptions = {}): Promise<Batch> {
    const deadline = new Deadline(options.signal, timeoutMs ?? null, `Batch ${id} did not end`);
    const { signal } = deadline;
    try {
      return await poll(
        () => this.get(id, { ...options, signal }),
        ({ status }) => ENDED.has(status),
        signal,
      );
    } finally {
      deadline.release();
    }
  }
}
