import { ServiceError } from "../../../shared/errors.ts";
import { isTerminal } from "../../../shared/job-state.ts";
import type { JobApi } from "../../jobs/job-service.ts";

type LineJobs = Pick<JobApi, "submit">;

export type BatchJobs = Pick<JobApi, "findSubmitted" | "submit">;

interface LinePosition {
  readonly batchId: string;
  /** Line number in the input file, from 1. */
  readonly line: number;
}

/** Error of a line that had no response when its batch was aborted. */
export class NoResponseError extends Error {
  override readonly name = "NoResponseError";
}

/**
 * Returns a `submit` for the jobs of one line. Their Idempotency-Keys name the batch, the line and the job's index in
 * the line, so that a coordinator that runs the line again after a crash finds the existing jobs. The jobs outlive
 * their client and are cancelled only with the batch.
 */
export function lineJobs(
  jobs: Pick<BatchJobs, "submit">,
  position: LinePosition & { readonly isCancelled: () => boolean },
): LineJobs {
  const keys = lineKeys(position);
  return {
    /**
     * Omits the fields of jobs whose client waits on a connection: the jobs of a line wait as long as their Cargo
     * allows.
     */
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

/** Returns a `submit` that finds jobs submitted before the batch was aborted, and cancels those that have not ended. */
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

/** Cancels a job and returns its new state; null if the job has already ended. */
async function cancel(job: Awaited<ReturnType<JobApi["submit"]>>): Promise<string | null> {
  try {
    return await job.cancel();
  } catch (error) {
    if (error instanceof ServiceError && error.code === "job_not_cancellable") return null;
    throw error;
  }
}

/** Makes the keys of a line's jobs by index. `mapWithConcurrency` submits a refused job again before the later ones. */
function lineKeys({ batchId, line }: LinePosition) {
  const prefix = `${batchId}/${line}/`;
  /** Indexes of refused jobs, which are used first; ascending. */
  let free: number[] = [];
  let count = 0;
  return {
    next: (): string => `${prefix}${free.shift() ?? ++count}`,
    giveBack(key: string): void {
      free = [...free, Number(key.slice(prefix.length))].toSorted((a, b) => a - b);
    },
  };
}
