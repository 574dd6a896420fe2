import type { JobInput } from "./job-store.ts";
import { REFUSALS } from "../refusals.ts";

/** Queries at a time; what is asked for meanwhile shares the next one. */
const MAX_QUERIES = 2;
/** Inputs in a query. */
const MAX_INPUTS = 64;

interface Asked {
  readonly jobId: string;
  readonly resolve: (input: JobInput) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads the inputs of jobs that begin, those of several jobs with one query: Islands with many slots begin as many jobs at once. The
 * function that it returns throws {ServiceError} `not_found` for an unknown job, and one whose input was removed.
 * @param query Reads inputs as JSON, by job.
 */
export function shareInputReads(
  query: (jobIds: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): (jobId: string) => Promise<JobInput> {
  const waiting: Asked[] = [];
  let queries = 0;

  const readPart = async (asked: readonly Asked[]): Promise<void> => {
    try {
      const inputs = await query(asked.map(({ jobId }) => jobId));
      for (const { jobId, resolve, reject } of asked) {
        const input = inputs.get(jobId);
        if (input === undefined) reject(REFUSALS.no_job());
        else resolve(JSON.parse(input) as JobInput);
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };

  const readAsked = async (): Promise<void> => {
    if (queries >= MAX_QUERIES) return;
    queries += 1;
    while (waiting.length > 0) {
      // oxlint-disable-next-line no-await-in-loop -- One query after the other.
      await readPart(waiting.splice(0, MAX_INPUTS));
    }
    queries -= 1;
  };

  return (jobId) =>
    new Promise((resolve, reject) => {
      waiting.push({ jobId, resolve, reject });
      // In a microtask, so that the calls of one turn share a query.
      queueMicrotask(() => void readAsked());
    });
}
