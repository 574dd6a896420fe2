import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { FetchPolicy } from "./fetch-policy.ts";
import { RetriableError } from "./retriable-error.ts";
import { StallWatchdog } from "./stall-watchdog.ts";

export interface FetchContext {
  readonly policy: FetchPolicy;
  readonly clock: Clock;
}

/**
 * Makes one attempt to download. Silence of the server (from the start on) and `signal` abort it, both through the
 * signal that `work` gets.
 * @throws {RetriableError} when the next attempt may succeed; other errors of `work`; `signal.reason` when aborted.
 */
export async function attempt<T>(
  { policy, clock }: FetchContext,
  signal: AbortSignal,
  work: (signal: AbortSignal, watchdog: StallWatchdog) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const end = new AbortController();
  const onAbort = (): void => end.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const stalled = new RetriableError(`no data for ${policy.stallMs / 1_000} s`);
  const watchdog = new StallWatchdog(clock, policy.stallMs, () => end.abort(stalled));
  try {
    watchdog.wait();
    return await work(end.signal, watchdog);
  } catch (error) {
    if (end.signal.aborted) throw end.signal.reason as Error;
    throw isNetworkError(error) ? new RetriableError(error.message, { cause: error }) : error;
  } finally {
    watchdog.stop();
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Returns whether the error comes from a socket, DNS, TLS or HTTP parsing. Such errors have a code, unlike those of the
 * agent.
 */
function isNetworkError(error: unknown): error is NodeJS.ErrnoException {
  if (error instanceof JobFailure || error instanceof RetriableError) return false;
  return error instanceof Error && "code" in error;
}
