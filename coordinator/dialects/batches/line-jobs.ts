import { ServiceError } from "../../../shared/errors.ts";
import { isTerminal } from "../../../shared/job-state.ts";
import type { JobApi } from "../../jobs/job-service.ts";

/** Submits jobs for a batch line as for a client that waits. */
type LineJobs = Pick<JobApi, "submit">;

export type BatchJobs = Pick<JobApi, "findSubmitted" | "submit">;

interface LinePosition {
  readonly batchId: string;
  /** Line number from 1. */
  readonly line: number;
}

/** A line had no response when its batch ended early. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/**
 * Submits the jobs of one line. Their Idempotency-Keys name the batch, the line and the job's index in the line, so
 * that a coordinator that runs the line again after a crash finds the existing jobs. The jobs continue when a
 * coordinator stops; they are cancelled only with the batch.
 */
export function lineJobs(
  jobs: Pick<BatchJobs, "submit">,
  place: LinePosition & { readonly isCancelled: () => boolean },
): LineJobs {
  const keys = lineKeys(place);
  return {
    async submit({ waitLimitMs: _waits, isClientBound: _bound, ...request }) {
      const key = keys.next();
      const job = await jobs.submit({ ...request, idempotency: { key, bodyHash: key } }).catch((error: unknown) => {
        keys.giveBack(key);
        throw error;
      });
      return { ...job, cancel: async () => (place.isCancelled() ? job.cancel() : job.record.state) };
    },
  };
}

/**
 * Finds the jobs of one line of a batch that ends early: those that were submitted before, whose results are charged.
 * Submits no jobs, and cancels those that have not ended.
 */
export function earlierLineJobs(jobs: BatchJobs, { sinceMs, ...place }: LinePosition & { sinceMs: number }): LineJobs {
  const keys = lineKeys(place);
  return {
    async submit({ accountId }) {
      const job = await jobs.findSubmitted(accountId, keys.next(), sinceMs);
      if (job === undefined) throw new NoAnswerError();
      const { state } = job.record;
      if ((isTerminal(state) ? state : await endOf(job)) === "cancelled") throw new NoAnswerError();
      return job;
    },
  };
}

async function endOf(job: Awaited<ReturnType<JobApi["submit"]>>): Promise<string | null> {
  try {
    return await job.cancel();
  } catch (error) {
    // The job has already ended.
    if (error instanceof ServiceError && error.code === "job_not_cancellable") return null;
    throw error;
  }
}

/** Names the jobs of a line by their indexes. A refused job is submitted again before the later ones: `mapWithConcurrency`. */
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
