import { Backoff } from "../../shared/async/backoff.ts";
import type { CoordinatorAddresses } from "./coordinator-addresses.ts";
import type { SessionEnd } from "./coordinator-link.ts";

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
/** While it holds jobs, which wait for it for the grace only. */
const MAX_HELD_RETRY_MS = 5_000;

/**
 * Decides where the Island dials after the end of a session, and after how long.
 * @param random 0 (included) to 1 (excluded); spreads the dials of many Islands.
 */
export function openReconnectPolicy(addresses: CoordinatorAddresses, random: () => number) {
  const backoff = new Backoff({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random });

  /** The wait before the next session, whose address is then the present one; null: there is none, as no coordinator takes this Island. */
  function waitMsAfter(end: SessionEnd, holdsJobs: boolean): number | null {
    if (end.kind === "refused" && (end.isFinal || addresses.refused())) return null;
    if (end.kind !== "renewal" && addresses.advance(end.kind === "retry" ? end.address : null)) return 0;
    const afterMs = end.kind === "retry" ? end.afterMs : 0;
    return (afterMs ?? 0) + backoff.nextMs(holdsJobs ? MAX_HELD_RETRY_MS : MAX_RETRY_MS);
  }

  function welcomed(): void {
    addresses.welcomed();
  }

  /** The session has lasted. */
  function settled(): void {
    addresses.settled();
    backoff.reset();
  }

  /** The next wait is a short one again. */
  function hurry(): void {
    backoff.reset();
  }

  return { waitMsAfter, welcomed, settled, hurry };
}

export type ReconnectPolicy = ReturnType<typeof openReconnectPolicy>;
