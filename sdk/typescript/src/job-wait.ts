import type { Http } from "./http.ts";
import { JobFailedError } from "./job-failed-error.ts";
import { poll } from "./polling.ts";
import type { Job, JobStatus } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";
import { Deadline } from "./timing.ts";

/** `timeoutMs` is of the whole wait; without it a wait lasts as long as what it waits for. */
export type WaitOptions = CallOptions;

/** Long enough to ask seldom, and short enough for proxies that close what is silent for a minute. The API takes up to 60. */
const LONG_POLL_S = 30;
/** How long a single long-poll may take beyond what was asked for. */
const LONG_POLL_MARGIN_MS = 30_000;

/** Those in which a job stays. */
const ENDED: ReadonlySet<JobStatus> = new Set<JobStatus>(["completed", "failed", "cancelled", "timeout"]);

/**
 * The completed job. The job goes on when waiting for it is given up.
 * @throws {JobFailedError} when it ended in any other way. @throws {TimeoutError} after `timeoutMs`.
 */
export async function waitForJob(http: Http, id: string, { timeoutMs, ...options }: WaitOptions): Promise<Job> {
  const deadline = new Deadline(options.signal, timeoutMs ?? null, `Job ${id} did not end`);
  const { signal } = deadline;
  const call = { ...options, signal, timeoutMs: LONG_POLL_S * 1_000 + LONG_POLL_MARGIN_MS };
  const ask = async (): Promise<Job> =>
    (await http.call("get", "/jobs/{id}", { path: { id }, query: { wait: LONG_POLL_S } }, call)).data;
  try {
    return completed(await poll(ask, ({ status }) => ENDED.has(status), signal));
  } finally {
    deadline.release();
  }
}

/** @throws {JobFailedError} unless it is. */
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
