/** A suspended Island asks again after this time, so that it comes back by itself when it is reinstated. */
export const SUSPENDED_RETRY_MS = 60_000;

/** Islands that get no jobs, as the operator suspended them or their account. */
export interface SuspendedIslands {
  /** What to tell its owner; null for an Island that is not suspended. */
  reasonFor(hostId: string, accountId: string): string | null;
}

export const suspendedIsland = (because: string): string => `the operator suspended this Island: ${because}`;
export const suspendedOwner = (because: string): string => `the operator suspended this Island's account: ${because}`;
