import type { JobClass } from "../store/jobs/job-store.ts";
import type { AccountEntry, AccountShare } from "./job-classes.ts";
import { goesFirst } from "./fair-share.ts";
import { IndexedHeap, type HeapItem } from "./indexed-heap.ts";

/** Jobs of one class and Cargo that the same Islands may run. */
export interface JobKind {
  readonly slug: string;
  readonly jobClass: JobClass;
  /** As in `WaitingJob`. */
  readonly onlyIslandsOf: string | null;
  /** As in `WaitingJob`. */
  readonly features?: readonly string[] | undefined;
  /** Those of `WaitingJob` that are online, sorted: one that is away makes no difference. */
  readonly avoidIslands: readonly string[];
  /** They wait for an Island of another coordinator rather than go back to one that they avoid. */
  readonly mustAvoid: boolean;
}

export interface QueuedJob extends HeapItem {
  readonly id: string;
  kind: JobKind;
  /** As in `WaitingJob`. */
  readonly avoidIslands: readonly string[];
  /** As in `WaitingJob`. */
  readonly avoidAccounts: ReadonlySet<string> | null;
  /** `dueAtMs()` of the job. */
  readonly dueAtMs: number;
  readonly createdAtMs: number;
  readonly account: AccountShare;
}

/** The jobs of one account in a queue. */
export interface Line extends HeapItem, AccountEntry {
  readonly account: AccountShare;
  readonly jobs: IndexedHeap<QueuedJob>;
}

/** Waiting raises a job from priority 0 to 100 in this time, or in half of its wait limit if that is less. */
const MAX_RISE_MS = 30 * 60_000;
const MAX_PRIORITY = 100;
/** Jobs of one account that count when backlogs are compared: who has a thousand more is no more in a hurry. */
const MAX_PRESSING = 10;

/**
 * When a job reaches the highest priority by waiting, ms since the epoch: of an account's jobs the one that is due first goes first.
 * It never changes while the job waits, so nothing is sorted again as time passes. Source: decision 0016.
 */
export function dueAtMs(job: {
  readonly priority: number;
  readonly createdAtMs: number;
  readonly waitLimitMs: number;
}): number {
  const riseMs = Math.min(MAX_RISE_MS, job.waitLimitMs / 2);
  return job.createdAtMs + ((MAX_PRIORITY - job.priority) / MAX_PRIORITY) * riseMs;
}

/** The order of the jobs of one account. */
export function isDueFirst(a: QueuedJob, b: QueuedJob): boolean {
  if (a.dueAtMs !== b.dueAtMs) return a.dueAtMs < b.dueAtMs;
  return a.createdAtMs === b.createdAtMs ? a.id < b.id : a.createdAtMs < b.createdAtMs;
}

function isNext(a: Line, b: Line): boolean {
  return goesFirst(a.account, b.account);
}

/** The waiting jobs of one kind: the account whose turn it is, and of its jobs the one that is due first. */
export class JobQueue {
  readonly kind: JobKind;
  // Only `add` and `remove` write these two.
  size = 0;
  /** Jobs, at most ten of each account. */
  pressing = 0;
  readonly #lines = new Map<AccountShare, Line>();
  readonly #order = new IndexedHeap<Line>(isNext);

  constructor(kind: JobKind) {
    this.kind = kind;
  }

  get lines(): Iterable<Line> {
    return this.#lines.values();
  }

  add(job: QueuedJob): void {
    const { account } = job;
    const line = this.#lines.get(account) ?? this.#newLine(account);
    line.jobs.push(job);
    this.size += 1;
    if (line.jobs.size <= MAX_PRESSING) this.pressing += 1;
  }

  /** The job must be in this queue. */
  remove(job: QueuedJob): void {
    const line = this.#lines.get(job.account);
    if (line === undefined) throw new Error(`Job ${job.id} is not in the queue of ${this.kind.slug}`);
    line.jobs.remove(job);
    this.size -= 1;
    if (line.jobs.size < MAX_PRESSING) this.pressing -= 1;
    if (line.jobs.size > 0) return;
    this.#order.remove(line);
    this.#lines.delete(job.account);
    job.account.entries.delete(line);
  }

  /** The next job; undefined when empty. */
  head(): QueuedJob | undefined {
    return this.#order.peek()?.jobs.peek();
  }

  #newLine(account: AccountShare): Line {
    const order = this.#order;
    const line: Line = { heapIndex: -1, account, jobs: new IndexedHeap(isDueFirst), sort: () => order.update(line) };
    this.#lines.set(account, line);
    account.entries.add(line);
    order.push(line);
    return line;
  }
}
