import type { Clock } from "../../shared/clock.ts";
import type { Elsewhere } from "../scheduler/explain.ts";
import type { WorkKind } from "../scheduler/events.ts";
import type { Peers } from "./peers.ts";
import type { WorkSharing } from "./work-sharing.ts";

type ReceivedWork = Pick<WorkSharing, "elsewhere" | "mayRunElsewhere" | "waitingElsewhere" | "hasReceivedFromAllSince">;

export type SeenWork = ReturnType<typeof seenWork>;

/** Returns the last reported work of the other coordinators. It is empty until work is shared. */
export function seenWork(peers: Peers, clock: Clock) {
  let received: ReceivedWork | null = null;
  /** Monotonic time since which the bus is up. Messages sent while it was down were not received. */
  let busUpSinceMs = -Infinity;
  peers.onBusChange(() => (busUpSinceMs = clock.monotonicMs()));
  return {
    begin(sharing: ReceivedWork): void {
      received = sharing;
    },
    elsewhere: (kind: WorkKind): Elsewhere | null => received?.elsewhere(kind) ?? null,
    mayRunElsewhere: (kind: WorkKind): boolean => received?.mayRunElsewhere(kind) === true,
    waitingElsewhere: (): ReadonlyMap<string, number> => received?.waitingElsewhere() ?? new Map<string, number>(),
    /** Returns true if messages of all other coordinators could arrive all the time since `sinceMs` (monotonic). */
    couldReceiveSince(sinceMs: number): boolean {
      const wasUp = peers.downReason === null && busUpSinceMs <= sinceMs;
      return wasUp && received?.hasReceivedFromAllSince(sinceMs) !== false;
    },
  };
}
