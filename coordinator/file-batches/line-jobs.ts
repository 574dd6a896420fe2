import type { JobApi } from "../jobs/job-service.ts";

/** Submits jobs, as an endpoint does for a client that waits. */
export type LineJobs = Pick<JobApi, "submit">;

/**
 * Jobs of one line. Their Idempotency-Keys name the batch, the line and the job's place in it: who runs the line again, after a crash of
 * whoever, gets the jobs that are there. Nobody is cut off when a coordinator stops, so that they go on; they are cancelled only with the
 * batch.
 */
export function lineJobs(
  jobs: LineJobs,
  {
    batchId,
    line,
    isCancelled,
  }: { readonly batchId: string; readonly line: number; readonly isCancelled: () => boolean },
): LineJobs {
  let count = 0;
  return {
    async submit({ waitLimitMs: _waits, isClientBound: _bound, ...request }) {
      count += 1;
      const key = `${batchId}/${line}/${count}`;
      const job = await jobs.submit({ ...request, idempotency: { key, bodyHash: key } });
      return { ...job, cancel: async () => (isCancelled() ? job.cancel() : job.record.state) };
    },
  };
}
