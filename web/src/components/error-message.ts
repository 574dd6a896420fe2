import { AtollError, ConnectionError, InsufficientCreditsError, RateLimitError } from "@atoll/client";
import { formatBalance, formatCredits } from "./numbers.ts";

/** Says in a sentence what happened and what to do. */
export function messageOf(error: unknown): string {
  if (error instanceof ConnectionError) return "The coordinator is not responding. Try again when it is back.";
  if (error instanceof InsufficientCreditsError && error.requiredCredits !== null && error.balanceCredits !== null) {
    return `Not enough credits. This needs ${formatCredits(error.requiredCredits)}, but you have ${formatBalance(error.balanceCredits)}.`;
  }
  if (error instanceof RateLimitError && error.retryAfterS !== null) {
    return `Too many requests. Try again in ${error.retryAfterS} s.`;
  }
  if (error instanceof AtollError && error.code === "unauthenticated")
    return "Your session has ended. Sign in and try again.";
  return error instanceof Error ? error.message : String(error);
}

/** Treats the removal of something that is already gone (404) as successful. */
export async function goneIsDone(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!(error instanceof AtollError && error.status === 404)) throw error;
  }
}

/** Returns the request id of a server error, by which an operator finds it in the log; null for other errors. */
export function requestIdOf(error: unknown): string | null {
  return error instanceof AtollError && (error.status ?? 0) >= 500 ? error.requestId : null;
}
