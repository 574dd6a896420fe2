import { AtollError, ConnectionError, InsufficientCreditsError, RateLimitError } from "@atoll/client";
import { formatBalance, formatCredits } from "./numbers.ts";

/** What happened and what to do, in a sentence. */
export function messageOf(error: unknown): string {
  if (error instanceof ConnectionError) return "The coordinator does not answer. Try again when it is back.";
  if (error instanceof InsufficientCreditsError && error.requiredCredits !== null && error.balanceCredits !== null) {
    return `Not enough credits: this needs ${formatCredits(error.requiredCredits)}, you have ${formatBalance(error.balanceCredits)}.`;
  }
  if (error instanceof RateLimitError && error.retryAfterS !== null) {
    return `Too many requests. Try again in ${error.retryAfterS} s.`;
  }
  if (error instanceof AtollError && error.code === "unauthenticated")
    return "Your session has ended. Sign in and send again.";
  return error instanceof Error ? error.message : String(error);
}

/** A removal of what another tab or program has removed already is done, too. */
export async function goneIsDone(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!(error instanceof AtollError && error.status === 404)) throw error;
  }
}

/** For the operator to find the failure in the log. */
export function requestIdOf(error: unknown): string | null {
  return error instanceof AtollError && (error.status ?? 0) >= 500 ? error.requestId : null;
}
