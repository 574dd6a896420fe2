import type { WorkLoad } from "../scheduler/shared-work.ts";

type Load = Pick<WorkLoad, "jobs" | "pressing" | "slots">;

/** A job moves to another queue only where it waits so much less, or it would go back and forth as queues change. */
const MARGIN = 1.25;

/**
 * How many waiting jobs of a kind a coordinator with busy slots takes into its queues from another: each of them waits less there, and
 * the one who takes has no more than its part of all. So nobody starves where there are few slots, or none.
 * @param mine Of the one who takes.
 * @param network Sums over all coordinators, these two included.
 */
export function jobsToTake(mine: Load, theirs: Load, network: Pick<Load, "pressing" | "slots">): number {
  if (mine.slots === 0 || theirs.jobs === 0) return 0;
  // The last of them waits for (mine.pressing + n) / mine.slots rounds, instead of (theirs.pressing - n + 1) / theirs.slots.
  const gain = (theirs.pressing + 1) * mine.slots - MARGIN * mine.pressing * theirs.slots;
  const better = Math.floor(gain / (mine.slots + MARGIN * theirs.slots));
  const part = Math.ceil((network.pressing * mine.slots) / network.slots - mine.pressing);
  return Math.max(0, Math.min(better, part, theirs.jobs));
}
