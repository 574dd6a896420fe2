import { Backoff } from "../../shared/async/backoff.ts";
import type { CoordinatorAddresses } from "./coordinator-addresses.ts";
import type { SessionEnd } from "./coordinator-link.ts";

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
/** Maximum wait while the Island holds jobs, which wait for it only during the grace period. */
const MAX_HELD_RETRY_MS = 5_000;

/**
 * Decides which address the Island dials after the end of a session, and after what wait.
 * @param random 0 (inclusive) to 1 (exclusive); spreads the dials of many Islands.
 */
export function openReconnectPolicy(addresses: CoordinatorAddresses, random: () => number) {
  const backoff = new Backoff({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random });

  /**
   * Returns the wait before the next session; null if all coordinators refuse this Island. The current address is then
   * that of the next session.
   */
  function waitMsAfter(end: SessionEnd, holdsJobs: boolean): number | null {
    if (end.kind === "refused" && (end.isFinal || addresses.refused())) return null;
    if (end.kind !== "renewal" && addresses.advance(end.kind === "retry" ? end.address : null)) return 0;
    const afterMs = end.kind === "retry" ? end.afterMs : 0;
    return (afterMs ?? 0) + backoff.nextMs(holdsJobs ? MAX_HELD_RETRY_MS : MAX_RETRY_MS);
  }

  function recordWelcome(): void {
    addresses.welcomed();
  }

  function recordStableSession(): void {
    addresses.settled();
    backoff.reset();
  }

  function resetBackoff(): void {
    backoff.reset();
  }

  return { waitMsAfter, recordWelcome, recordStableSession, resetBackoff };
}

export type ReconnectPolicy = ReturnType<typeof openReconnectPolicy>;
