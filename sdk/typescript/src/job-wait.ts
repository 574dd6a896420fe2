import type { Http } from "./http.ts";
import { JobFailedError } from "./job-failed-error.ts";
import { poll } from "./polling.ts";
import type { Job, JobStatus } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";
import { Deadline } from "./timing.ts";

/** Options of a wait. `timeoutMs` limits the whole wait; default: no limit. */
export type WaitOptions = CallOptions;

/**
 * Duration of a long poll. It is long, so that requests are few, but stays below the idle limit of proxies, which is
 * often a minute. The API permits up to 60.
 */
const LONG_POLL_S = 30;
/** Time that a single long poll may take in addition to its duration. */
const LONG_POLL_MARGIN_MS = 30_000;

/** Final states of a job. */
const ENDED: ReadonlySet<JobStatus> = new Set<JobStatus>(["completed", "failed", "cancelled", "timeout"]);

/**
 * Waits until the job completes. Aborting the wait does not cancel the job.
 * @throws {JobFailedError} if it ends in another state. @throws {TimeoutError} after `timeoutMs`.
 */
export async function waitForJob(http: Http, id: string, { timeoutMs, ...options }: WaitOptions): Promise<Job> {
  const deadline = new Deadline(options.signal, timeoutMs ?? null, `Job ${id} did not end`);
  const { signal } = deadline;
  const call = { ...options, signal, timeoutMs: LONG_POLL_S * 1_000 + LONG_POLL_MARGIN_MS };
  const read = async (): Promise<Job> =>
    (await http.call("get", "/jobs/{id}", { path: { id }, query: { wait: LONG_POLL_S } }, call)).data;
  try {
    return completed(await poll(read, ({ status }) => ENDED.has(status), signal));
  } finally {
    deadline.release();
  }
}

/** Returns a completed job. @throws {JobFailedError} if the job did not complete. */
function completed(job: Job): Job {
  if (job.status === "completed") return job;
  const { error, status, id } = job;
  const reason = error === null ? "" : ` (${error.code}): ${error.message}`;
  throw new JobFailedError(`Job ${id} ended as ${status}${reason}`, {
    jobError: error?.code ?? status,
    retryable: error?.retryable ?? false,
    job,
  });
}
