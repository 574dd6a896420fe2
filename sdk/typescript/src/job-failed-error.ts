import { AtollError, type AtollErrorFacts } from "./errors.ts";
import type { Job } from "./schemas.ts";

/** Details of a job that ended without a result. */
export interface JobFailure extends AtollErrorFacts {
  /** The job's `error.code`, or `cancelled`; null if the response has none. */
  readonly jobError: string | null;
  readonly retryable: boolean;
  readonly job?: Job | null | undefined;
}

/** Thrown for a job that was accepted but ended without a result: it failed, timed out or was cancelled. */
export class JobFailedError extends AtollError {
  override readonly name = "JobFailedError";
  readonly jobError: string | null;
  /** Whether the job may succeed if it is submitted again. */
  readonly retryable: boolean;
  /** The ended job if `wait` threw the error; else null. */
  readonly job: Job | null;

  constructor(message: string, failure: JobFailure) {
    super(message, { code: "job_failed", ...failure });
    this.jobError = failure.jobError;
    this.retryable = failure.retryable;
    this.job = failure.job ?? null;
  }
}
