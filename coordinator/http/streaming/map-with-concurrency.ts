import { RateLimitedError } from "../../../shared/errors.ts";

/** Jobs of one request that are unfinished at once: an account may have few. */
export const MAX_CONCURRENCY = 4;

/**
 * Does the work for each of some values, in their order and so many at once. Fewer where an account may not have as many unfinished jobs:
 * what is refused for that is tried again when another has ended, unless none of them is under way. The first failure ends the rest, by
 * the signal that `work` gets, and nothing more begins. Resolves when no work is under way any more: with the results in the order of the
 * values, or null if `work` gave null for one, as it does when nobody waits.
 * @throws what the first `work` that failed threw.
 */
export async function mapWithConcurrency<T, R>(
  values: readonly T[],
  maxConcurrency: number,
  gone: AbortSignal,
  work: (value: T, index: number, gone: AbortSignal) => Promise<R | null>,
): Promise<R[] | null> {
  const ended = new AbortController();
  const signal = AbortSignal.any([gone, ended.signal]);
  const results: R[] = [];
  const left = Array.from(values.entries());
  const failures: unknown[] = [];
  let workers = Math.min(maxConcurrency, values.length);
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined && !signal.aborted; next = left.shift()) {
      const [index, value] = next;
      try {
        // oxlint-disable-next-line no-await-in-loop -- A turn does one after the other.
        const result = await work(value, index, signal);
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
  return signal.aborted ? null : results;
}
