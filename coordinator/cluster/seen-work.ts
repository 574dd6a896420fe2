import type { Clock } from "../../shared/clock.ts";
import type { Elsewhere } from "../scheduler/explain.ts";
import type { WorkKind } from "../scheduler/shared-work.ts";
import type { Peers } from "./peers.ts";

/** What `shareWork` hears of the other coordinators. */
interface HeardWork {
  elsewhere(kind: WorkKind): Elsewhere;
  mayRunElsewhere(kind: WorkKind): boolean;
  waitingElsewhere(): ReadonlyMap<string, number>;
  hasHeardAllSince(sinceMs: number): boolean;
}

export type SeenWork = ReturnType<typeof seenWork>;

/** What the other coordinators said last of their work. Nothing, until work is shared. */
export function seenWork(peers: Peers, clock: Clock) {
  let heard: HeardWork | null = null;
  /** By the monotonic clock. Of what was sent while the bus was down, nothing was heard. */
  let busUpSinceMs = -Infinity;
  peers.onBusChange(() => (busUpSinceMs = clock.monotonicMs()));
  return {
    /** Work is shared from now on. */
    begin(sharing: HeardWork): void {
      heard = sharing;
    },
    elsewhere: (kind: WorkKind): Elsewhere | null => heard?.elsewhere(kind) ?? null,
    mayRunElsewhere: (kind: WorkKind): boolean => heard?.mayRunElsewhere(kind) === true,
    /** Waiting jobs by Cargo. */
    waitingElsewhere: (): ReadonlyMap<string, number> => heard?.waitingElsewhere() ?? new Map<string, number>(),
    /** Whether others could be heard all the time since then, by the monotonic clock. */
    couldHearSince(sinceMs: number): boolean {
      const wasUp = peers.downBecause === null && busUpSinceMs <= sinceMs;
      return wasUp && heard?.hasHeardAllSince(sinceMs) !== false;
    },
  };
}
