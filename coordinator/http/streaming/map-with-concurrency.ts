import { RateLimitedError } from "../../../shared/errors.ts";

/** Maximum unfinished jobs of one request at a time: an account may have few. */
export const MAX_CONCURRENCY = 4;

/**
 * Calls `work` for each value in order, at most `maxConcurrency` at a time. A value that the account's limit of
 * unfinished jobs refuses is retried when another call has ended, unless no other is in flight. The first failure
 * aborts the signal of the other calls. When all have ended, resolves with the results in the order of the values, or
 * null if a result was null (the client disconnected).
 * @throws the error of the first call that failed.
 */
export async function mapWithConcurrency<T, R>(
  values: readonly T[],
  maxConcurrency: number,
  signal: AbortSignal,
  work: (value: T, index: number, signal: AbortSignal) => Promise<R | null>,
): Promise<R[] | null> {
  const ended = new AbortController();
  const workSignal = AbortSignal.any([signal, ended.signal]);
  const results: R[] = [];
  const left = Array.from(values.entries());
  const failures: unknown[] = [];
  let workers = Math.min(maxConcurrency, values.length);
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined && !workSignal.aborted; next = left.shift()) {
      const [index, value] = next;
      try {
        // oxlint-disable-next-line no-await-in-loop -- Each worker runs one value at a time.
        const result = await work(value, index, workSignal);
        if (result === null) ended.abort();
        else results[index] = result;
      } catch (error) {
        const isFull = error instanceof RateLimitedError && error.limit === "concurrent_jobs";
        if (isFull && workers > 1) {
          left.push(next);
          left.sort(([a], [b]) => a - b);
          break;
        }
        failures.push(error);
        ended.abort();
      }
    }
    workers -= 1;
  };
  await Promise.all(Array.from({ length: workers }, worker));
  if (failures.length > 0) throw failures[0];
  return workSignal.aborted ? null : results;
}
