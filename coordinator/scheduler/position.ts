import type { AccountShare } from "./account-shares.ts";
import { costOf } from "./fair-share.ts";
import { isDueFirst, type JobQueue, type QueuedJob } from "./job-queue.ts";

/**
 * 1-based place of a job in the order in which the jobs of `queues` start, by the shares and estimates as they are now.
 * @param queues All queues of its Cargo and class that the same account's Islands serve; one of them has the job.
 * @param virtualMs Of the class.
 */
export function positionOf(job: QueuedJob, queues: readonly JobQueue[], virtualMs: number): number {
  const counts = new Map<AccountShare, number>();
  let ownBefore = 0;
  for (const queue of queues) {
    for (const { account, jobs } of queue.lines) {
      counts.set(account, (counts.get(account) ?? 0) + jobs.size);
      if (account === job.account) ownBefore += jobs.items().filter((other) => isDueFirst(other, job)).length;
    }
  }
  let position = ownBefore + 1;
  for (const [account, count] of counts) {
    if (account !== job.account) position += startsBefore(account, count, job.account, ownBefore, virtualMs);
  }
  return position;
}

/** How many of the next `count` starts of `other` come before start number `rank` (from 0) of `own`. */
function startsBefore(other: AccountShare, count: number, own: AccountShare, rank: number, virtualMs: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(other, middle, own, rank, virtualMs)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether start number `i` of `a` comes before start number `j` of `b`, both counted from 0. */
function isBefore(a: AccountShare, i: number, b: AccountShare, j: number, virtualMs: number): boolean {
  let [tagOfA, tagOfB] = [tagAt(a, i, virtualMs), tagAt(b, j, virtualMs)];
  while (tagOfA === tagOfB) {
    if (i === 0 || j === 0) return i === j ? a.order < b.order : i === 0;
    // Who had the start before this one earlier has the tag longer. With equal costs those tie as well, down to the first.
    const steps = nextCost(a) === nextCost(b) ? Math.min(i, j) : 1;
    i -= steps;
    j -= steps;
    [tagOfA, tagOfB] = [tagAt(a, i, virtualMs), tagAt(b, j, virtualMs)];
  }
  return tagOfA < tagOfB;
}

function tagAt(account: AccountShare, start: number, virtualMs: number): number {
  return start === 0 ? account.tag : Math.max(account.tag, virtualMs) + start * nextCost(account);
}

function nextCost(account: AccountShare): number {
  return costOf(account, account.estimateMs);
}
