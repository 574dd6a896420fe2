import type { JobClass } from "../store/jobs/job-store.ts";
import type { JobSize, WorkKind } from "./events.ts";
import type { AccountEntry, AccountShare } from "./job-classes.ts";
import { goesFirst } from "./fair-share.ts";
import { IndexedHeap, type HeapItem } from "./indexed-heap.ts";

/** A kind of work of one class, whose jobs avoid the same online Islands. */
export interface JobKind extends WorkKind {
  readonly jobClass: JobClass;
  /** The online Islands of `WaitingJob.avoidIslands`, sorted. */
  readonly avoidIslands: readonly string[];
  /** True while the jobs wait for an Island of another coordinator instead of returning to one that they avoid. */
  readonly mustAvoid: boolean;
}

export interface QueuedJob extends HeapItem {
  readonly id: string;
  kind: JobKind;
  readonly avoidIslands: readonly string[];
  readonly avoidAccounts: ReadonlySet<string> | null;
  readonly dueAtMs: number;
  readonly createdAtMs: number;
  readonly account: AccountShare;
  readonly size: JobSize | undefined;
  /** False if the job has already waited for a busy Island while another one was free. */
  mayHold: boolean;
}

/** The jobs of one account in a queue. */
export interface Line extends HeapItem, AccountEntry {
  readonly account: AccountShare;
  readonly jobs: IndexedHeap<QueuedJob>;
}

/** Time in which waiting raises a job from priority 0 to 100. Half of the wait limit applies if it is less. */
const MAX_RISE_MS = 30 * 60_000;
const MAX_PRIORITY = 100;
/** Maximum number of pressing jobs of one account: a longer backlog of one account is not more urgent. */
const MAX_PRESSING = 10;

/**
 * Returns when waiting raises a job to the highest priority, in ms since the epoch. Within an account, the job that is
 * due first starts first. This time is constant, so that jobs need not be sorted again as time passes. Source: decision
 * 0016.
 */
export function dueAtMs(job: {
  readonly priority: number;
  readonly createdAtMs: number;
  readonly waitLimitMs: number;
}): number {
  const riseMs = Math.min(MAX_RISE_MS, job.waitLimitMs / 2);
  return job.createdAtMs + ((MAX_PRIORITY - job.priority) / MAX_PRIORITY) * riseMs;
}

export function isDueFirst(a: QueuedJob, b: QueuedJob): boolean {
  if (a.dueAtMs !== b.dueAtMs) return a.dueAtMs < b.dueAtMs;
  return a.createdAtMs === b.createdAtMs ? a.id < b.id : a.createdAtMs < b.createdAtMs;
}

function isNext(a: Line, b: Line): boolean {
  return goesFirst(a.account, b.account);
}

/** The waiting jobs of one kind. The account that is next by fair share is first, with its job that is due first. */
export class JobQueue {
  readonly kind: JobKind;
  // Only `add` and `remove` write these fields.
  size = 0;
  /** Number of pressing jobs: the waiting jobs, but at most ten of each account. */
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
    line.jobs.push(job, job.dueAtMs);
    this.size += 1;
    if (line.jobs.size <= MAX_PRESSING) this.pressing += 1;
  }

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

  head(): QueuedJob | undefined {
    return this.#order.peek()?.jobs.peek();
  }

  #newLine(account: AccountShare): Line {
    const order = this.#order;
    const line: Line = {
      heapIndex: -1,
      account,
      jobs: new IndexedHeap(isDueFirst),
      sort: () => order.update(line, account.tag),
    };
    this.#lines.set(account, line);
    account.entries.add(line);
    order.push(line, account.tag);
    return line;
  }
}
