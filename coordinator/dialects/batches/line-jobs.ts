import { ServiceError } from "../../../shared/errors.ts";
import { isTerminal } from "../../../shared/job-state.ts";
import type { JobApi } from "../../jobs/job-service.ts";

/** Submits jobs, as an endpoint does for a client that waits. */
type LineJobs = Pick<JobApi, "submit">;

export type BatchJobs = Pick<JobApi, "findSubmitted" | "submit">;

/** A line of the input of a batch. */
interface LinePosition {
  readonly batchId: string;
  /** From 1. */
  readonly line: number;
}

/** The line of a batch that ends early was not answered before. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/**
 * Jobs of one line. Their Idempotency-Keys name the batch, the line and the job's place in it: who runs the line again, after a crash of
 * whoever, gets the jobs that are there. Nobody is cut off when a coordinator stops, so that they go on; they are cancelled only with the
 * batch.
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
 * Jobs of one line of a batch that ends early: those that were submitted before, whose answers are paid for. None is submitted any more,
 * and those that have not ended are cancelled.
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
    // It has ended meanwhile.
    if (error instanceof ServiceError && error.code === "job_not_cancellable") return null;
    throw error;
  }
}

/** Names the jobs of a line by their places in it. One that is refused is submitted again before those after it: `mapWithConcurrency`. */
function lineKeys({ batchId, line }: LinePosition) {
  const prefix = `${batchId}/${line}/`;
  /** Places of jobs that were refused, in their order. */
  let free: number[] = [];
  let count = 0;
  return {
    next: (): string => `${prefix}${free.shift() ?? ++count}`,
    giveBack(key: string): void {
      free = [...free, Number(key.slice(prefix.length))].toSorted((a, b) => a - b);
    },
  };
}
