import { AtollError, type AtollErrorFacts } from "./errors.ts";
import type { Job } from "./schemas.ts";

/** What is known of a job that gave no result. */
export interface JobFailure extends AtollErrorFacts {
  /** The job's own `error.code`, `cancelled` for a cancelled one; null when the answer does not say. */
  readonly jobError: string | null;
  readonly retryable: boolean;
  readonly job?: Job | null | undefined;
}

/** The job was accepted and gave no result: it failed, ran out of time, or was cancelled. */
export class JobFailedError extends AtollError {
  override readonly name = "JobFailedError";
  readonly jobError: string | null;
  /** The same job may succeed if it is submitted again. */
  readonly retryable: boolean;
  /** The job as it ended, where it was asked for by `wait`; else null. */
  readonly job: Job | null;

  constructor(message: string, failure: JobFailure) {
    super(message, { code: "job_failed", ...failure });
    this.jobError = failure.jobError;
    this.retryable = failure.retryable;
    this.job = failure.job ?? null;
  }
}
