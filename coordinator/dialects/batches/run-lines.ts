import type { Clock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { errorResponse } from "../../http/error-responses.ts";
import type { BatchLease, AbortReason } from "./batch-lease.ts";
import type { BatchLine, readLines } from "./input-lines.ts";
import { NoResponseError } from "./line-jobs.ts";
import type { ResultFile } from "./result-file.ts";

/** Maximum lines of an account in flight. An account with few job quota slots has fewer; see `maxConcurrencyOf`. */
const MAX_CONCURRENCY = 8;
const RETRY_MS = 1_000;
/** Maximum attempts to read the results of an aborted batch, whose jobs other coordinators may own. */
const MAX_EARLIER_ATTEMPTS = 30;
const OK = 200;
/** Errors after which a line is retried until its batch ends. */
const TEMPORARY: ReadonlySet<string> = new Set([
  "rate_limited",
  "storage_unavailable",
  "cluster_unavailable",
  "overloaded",
  "shutting_down",
  "disk_full",
]);
const ABORT_ERRORS: Record<AbortReason, { readonly code: string; readonly message: string }> = {
  cancelled: { code: "batch_cancelled", message: "The batch was cancelled before this request completed" },
  expired: { code: "batch_expired", message: "The batch's completion window ended before this request completed" },
};

/** Lines in flight of all batches of an account at this coordinator. */
export type LinesInFlight = Set<Promise<void>>;

/**
 * Calls the endpoint of a batch for one line. Returns null if `signal` aborts.
 * @param isAborted if true, starts no job, and returns a response only if it was charged before the abort
 * @throws {ServiceError} as the endpoint; {@link NoResponseError}
 */
export type CallEndpoint = (line: BatchLine, isAborted: boolean, signal: AbortSignal) => Promise<object | null>;

/**
 * Runs the lines of a batch, several at a time, and writes their results.
 * @throws the error of writing a result; the reason if the batch is left to another coordinator
 */
export async function runLines(
  clock: Clock,
  call: CallEndpoint,
  lease: BatchLease,
  results: { readonly output: ResultFile; readonly failures: ResultFile },
  inFlight: LinesInFlight,
  lines: ReturnType<typeof readLines>,
): Promise<void> {
  const own: LinesInFlight = new Set();
  const waiting = new Set<AbortController>();
  let fault: { readonly error: unknown } | null = null;
  let [completed, failed] = [0, 0];
  lease.watch(() => {
    for (const each of waiting) each.abort();
  });

  const check = (): void => {
    lease.stopped.throwIfAborted();
    if (fault !== null) throw fault.error;
  };

  /** Returns the response to a line; null if the batch was aborted before that, or is left to another coordinator. */
  const respond = async (line: BatchLine, requestId: string) => {
    let attemptsLeft = MAX_EARLIER_ATTEMPTS;
    while (attemptsLeft > 0 && !lease.stopped.aborted) {
      const isAborted = lease.abortReason !== null;
      if (isAborted) attemptsLeft -= 1;
      const wait = new AbortController();
      waiting.add(wait);
      try {
        const body = await call(line, isAborted, wait.signal);
        if (body !== null) return { status: OK, body };
      } catch (error) {
        if (error instanceof NoResponseError) return null;
        if (!(error instanceof ServiceError) || !TEMPORARY.has(error.code))
          return errorResponse(error, { requestId, style: "openai", isVendorBase: true });
        await clock.sleep(RETRY_MS, wait.signal).catch(() => undefined);
      } finally {
        waiting.delete(wait);
      }
    }
    return null;
  };

  const run = async (line: BatchLine): Promise<void> => {
    const { id: batchId } = lease.batch;
    const requestId = `batch_req_${batchId.slice(batchId.indexOf("_") + 1)}_${line.number}`;
    const responded = await respond(line, requestId);
    if (lease.stopped.aborted) return;
    const isCompleted = responded?.status === OK;
    const response = responded && { status_code: responded.status, request_id: requestId, body: responded.body };
    const error = responded === null && lease.abortReason !== null ? ABORT_ERRORS[lease.abortReason] : null;
    const result = { id: requestId, custom_id: line.customId, response, error };
    await (isCompleted ? results.output : results.failures).write(result);
    if (isCompleted) completed += 1;
    else failed += 1;
    // The counts of an earlier run stay until this run exceeds them: after a crash, the first lines run again.
    const { progress } = lease;
    lease.count({ completed: Math.max(progress.completed, completed), failed: Math.max(progress.failed, failed) });
  };

  try {
    for await (const line of lines) {
      if ("error" in line) throw new Error(`Line ${line.error.line} of the input file changed after it was validated`);
      // Lines of the account's other batches count for the maximum too.
      while (inFlight.size >= maxConcurrencyOf(lease)) await Promise.race(inFlight);
      check();
      const done: Promise<void> = run(line)
        .catch((error: unknown) => {
          fault ??= { error };
        })
        .then(() => {
          inFlight.delete(done);
          own.delete(done);
        });
      inFlight.add(done);
      own.add(done);
    }
    await Promise.all(own);
    check();
    lease.count({ completed, failed });
  } finally {
    await Promise.all(own);
  }
}

/** Returns the maximum lines in flight. Half of the account's job quota stays free for other jobs. */
function maxConcurrencyOf({ submitter }: BatchLease): number {
  return Math.min(MAX_CONCURRENCY, Math.max(1, Math.floor(submitter.limits.concurrentJobs / 2)));
}
