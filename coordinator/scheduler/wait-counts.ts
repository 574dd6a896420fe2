import { explainUnknownCargo, explainWait, type Waiting } from "./explain.ts";
import type { IslandIndices } from "./island-indices.ts";
import type { WaitingJobs } from "./waiting-jobs.ts";

/** Waiting jobs by the reason for which they wait. The cost grows with their kinds, not with jobs. */
export function countWaits(waiting: WaitingJobs, indices: IslandIndices): ReadonlyMap<Waiting["reason"], number> {
  const counts = new Map<Waiting["reason"], number>();
  for (const { kind, size } of waiting.queues) {
    const index = indices.peek(kind);
    const avoided = index === undefined ? 0 : index.openOutside([]) - index.openOutside(kind.avoidIslands);
    const { reason } =
      index === undefined ? explainUnknownCargo(kind.slug) : explainWait(index.cargo, index.census(), avoided);
    counts.set(reason, (counts.get(reason) ?? 0) + size);
  }
  return counts;
}
