import { AtollError } from "./errors.ts";
import type { Http } from "./http.ts";
import type { WaitOptions } from "./job-wait.ts";
import type { SubmitOptions } from "./jobs.ts";
import { poll } from "./polling.ts";
import { randomKey } from "./random-key.ts";
import type { Batch, SubmitBatch, SubmittedBatch } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";
import { Deadline } from "./timing.ts";

const ENDED: ReadonlySet<Batch["status"]> = new Set<Batch["status"]>(["completed", "failed", "cancelled"]);

/** Up to 100 jobs of one Cargo that are submitted, counted and cancelled together. */
export class Batches {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** All or none. It can be repeated after a cut connection without making a second batch. */
  async submit(batch: SubmitBatch, { idempotencyKey, ...options }: SubmitOptions = {}): Promise<SubmittedBatch> {
    const manner = { isIdempotent: true, headers: { "idempotency-key": idempotencyKey ?? randomKey() } };
    return (await this.#http.call("post", "/jobs/batch", { body: batch }, options, manner)).data;
  }

  /** `jobs` are in the order of the inputs; each can be asked for and streamed by its id. */
  async get(id: string, options?: CallOptions): Promise<Batch> {
    return (await this.#http.call("get", "/jobs/batch/{id}", { path: { id } }, options)).data;
  }

  /** Cancels every job that has not ended; a batch that is cancelled already stays so. @throws {ValidationError} when all had ended. */
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

  /** The batch when all its jobs have ended, however they did: `counts` tells. @throws {TimeoutError} after `timeoutMs`. */
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
