import { reasonElsewhere, type Elsewhere } from "./explain-elsewhere.ts";
import { explainUnknownCargo, explainWait, type Waiting } from "./explain.ts";
import type { IslandIndices } from "./island-indices.ts";
import type { WorkKind } from "./slot-offer.ts";
import type { WaitingJobs } from "./waiting-jobs.ts";

/** What other coordinators have for a kind of work; null without any. */
export type AskElsewhere = (kind: WorkKind) => Elsewhere | null;

/** Waiting jobs by the reason for which they wait. The cost grows with their kinds, not with jobs. */
export function countWaits(
  waiting: WaitingJobs,
  indices: IslandIndices,
  elsewhere: AskElsewhere,
): ReadonlyMap<Waiting["reason"], number> {
  const counts = new Map<Waiting["reason"], number>();
  for (const { kind, size } of waiting.queues) {
    const index = indices.peek(kind);
    const avoided = index === undefined ? 0 : index.openOutside([]) - index.openOutside(kind.avoidIslands);
    const { reason: here } =
      index === undefined ? explainUnknownCargo(kind.slug) : explainWait(index.cargo, index.census(), avoided);
    const reason = reasonElsewhere(here, elsewhere(kind));
    counts.set(reason, (counts.get(reason) ?? 0) + size);
  }
  return counts;
}
