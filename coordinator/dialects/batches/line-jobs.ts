import { ServiceError } from "../../../shared/errors.ts";
import { isTerminal } from "../../../shared/job-state.ts";
import type { JobApi } from "../../jobs/job-service.ts";

type LineJobs = Pick<JobApi, "submit">;

export type BatchJobs = Pick<JobApi, "findSubmitted" | "submit">;

interface LinePosition {
  readonly batchId: string;
  /** Line number from 1. */
  readonly line: number;
}

/** A line had no response when its batch ended early. */
export class NoResponseError extends Error {
  override readonly name = "NoResponseError";
}

/**
 * Submits the jobs of one line. Their Idempotency-Keys name the batch, the line and the job's index in the line, so
 * that a coordinator that runs the line again after a crash finds the existing jobs. They are cancelled only with the
 * batch.
 */
export function lineJobs(
  jobs: Pick<BatchJobs, "submit">,
  position: LinePosition & { readonly isCancelled: () => boolean },
): LineJobs {
  const keys = lineKeys(position);
  return {
    async submit({ waitLimitMs: _waits, isClientBound: _bound, ...request }) {
      const key = keys.next();
      const job = await jobs.submit({ ...request, idempotency: { key, bodyHash: key } }).catch((error: unknown) => {
        keys.giveBack(key);
        throw error;
      });
      return { ...job, cancel: async () => (position.isCancelled() ? job.cancel() : job.record.state) };
    },
  };
}

/** Finds the jobs of a line that were submitted before the batch ended early. Cancels those that have not ended. */
export function earlierLineJobs(
  jobs: BatchJobs,
  { sinceMs, ...position }: LinePosition & { sinceMs: number },
): LineJobs {
  const keys = lineKeys(position);
  return {
    async submit({ accountId }) {
      const job = await jobs.findSubmitted(accountId, keys.next(), sinceMs);
      if (job === undefined) throw new NoResponseError();
      const { state } = job.record;
      if ((isTerminal(state) ? state : await cancel(job)) === "cancelled") throw new NoResponseError();
      return job;
    },
  };
}

/** Returns null if the job has already ended. */
async function cancel(job: Awaited<ReturnType<JobApi["submit"]>>): Promise<string | null> {
  try {
    return await job.cancel();
  } catch (error) {
    if (error instanceof ServiceError && error.code === "job_not_cancellable") return null;
    throw error;
  }
}

/** Names the jobs of a line by index. `mapWithConcurrency` submits a refused job again before the later ones. */
function lineKeys({ batchId, line }: LinePosition) {
  const prefix = `${batchId}/${line}/`;
  /** Indexes of refused jobs, ascending. */
  let free: number[] = [];
  let count = 0;
  return {
    next: (): string => `${prefix}${free.shift() ?? ++count}`,
    giveBack(key: string): void {
      free = [...free, Number(key.slice(prefix.length))].toSorted((a, b) => a - b);
    },
  };
}
