import type { Clock } from "../../shared/clock.ts";
import type { Elsewhere } from "../scheduler/explain.ts";
import type { WorkKind } from "../scheduler/events.ts";
import type { Peers } from "./peers.ts";

/** Work state of other coordinators, as `shareWork` received it. */
interface HeardWork {
  elsewhere(kind: WorkKind): Elsewhere;
  mayRunElsewhere(kind: WorkKind): boolean;
  waitingElsewhere(): ReadonlyMap<string, number>;
  hasHeardAllSince(sinceMs: number): boolean;
}

export type SeenWork = ReturnType<typeof seenWork>;

/** Returns the last reported work of the other coordinators. It is empty until work is shared. */
export function seenWork(peers: Peers, clock: Clock) {
  let heard: HeardWork | null = null;
  /** Monotonic time since which the bus is up. Messages sent while it was down were not received. */
  let busUpSinceMs = -Infinity;
  peers.onBusChange(() => (busUpSinceMs = clock.monotonicMs()));
  return {
    /** Called when work sharing begins. */
    begin(sharing: HeardWork): void {
      heard = sharing;
    },
    elsewhere: (kind: WorkKind): Elsewhere | null => heard?.elsewhere(kind) ?? null,
    mayRunElsewhere: (kind: WorkKind): boolean => heard?.mayRunElsewhere(kind) === true,
    /** Returns waiting jobs by Cargo. */
    waitingElsewhere: (): ReadonlyMap<string, number> => heard?.waitingElsewhere() ?? new Map<string, number>(),
    /** Returns whether all others could be heard since then, by the monotonic clock. */
    couldHearSince(sinceMs: number): boolean {
      const wasUp = peers.downBecause === null && busUpSinceMs <= sinceMs;
      return wasUp && heard?.hasHeardAllSince(sinceMs) !== false;
    },
  };
}
