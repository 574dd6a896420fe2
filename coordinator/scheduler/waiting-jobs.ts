import type { WaitingJob } from "./events.ts";
import { costOf, goesFirst } from "./fair-share.ts";
import { JOB_CLASSES, JobClasses, type AccountShare, type SlotUse } from "./job-classes.ts";
import { dueAtMs, isDueFirst, JobQueue, type JobKind, type QueuedJob } from "./job-queue.ts";
import { workKeyOf, workKindOf, type WorkKind } from "./slot-offer.ts";

/** Unique for each kind, as neither slugs nor ids nor names of features have a space or a plus sign. */
function keyOf({ jobClass, slug, onlyIslandsOf, features = [], avoidIslands, mustAvoid }: JobKind): string {
  return [
    jobClass,
    slug,
    onlyIslandsOf ?? "",
    features.join("+"),
    ...avoidIslands,
    ...(mustAvoid ? ["", "patient"] : []),
  ].join(" ");
}

/**
 * How long a job waits for a better Island of another coordinator before it goes back to one that it avoids: those with free slots ask
 * for it within this time.
 */
export const AVOIDANCE_DELAY_MS = 1_000;
/**
 * How often an account is passed over, for a job of a Cargo that the Island has in memory, before it is served. Source: Zaharia et
 * al., "Delay Scheduling" (EuroSys 2010).
 */
const MAX_PASSED_OVER = 1;

/** Every waiting job, and whose turn it is. */
export class WaitingJobs {
  readonly #classes: JobClasses;
  readonly #jobs = new Map<string, QueuedJob>();
  /** Queues with at least one job, by `keyOf()`. */
  readonly #queues = new Map<string, JobQueue>();
  readonly #avoiding = new Set<JobQueue>();
  /** Jobs that are in no queue for now. */
  readonly #aside = new Set<QueuedJob>();
  /** Jobs that avoid an Island, online or not. */
  readonly #avoidersOf = new Map<string, Set<QueuedJob>>();
  /** When the patience of jobs ends that do not go back to Islands that they avoid yet, by job id; the next to end first. */
  readonly #avoidsUntilMs = new Map<string, number>();
  readonly #isOnline: (islandId: string) => boolean;
  readonly #mayRunElsewhere: (kind: WorkKind) => boolean;

  /** Parameters: as in `Scheduler`. */
  constructor(
    chatShare: number,
    isOnline: (islandId: string) => boolean,
    mayRunElsewhere: (kind: WorkKind) => boolean,
  ) {
    this.#classes = new JobClasses(chatShare);
    this.#isOnline = isOnline;
    this.#mayRunElsewhere = mayRunElsewhere;
  }

  /** When {@link endAvoidance} is due; null while no job is patient. */
  get nextAvoidanceEndMs(): number | null {
    for (const untilMs of this.#avoidsUntilMs.values()) return untilMs;
    return null;
  }

  get size(): number {
    return this.#jobs.size;
  }

  get queues(): Iterable<JobQueue> {
    return this.#queues.values();
  }

  /** Those with jobs of a Cargo. */
  queuesOf(slug: string): JobQueue[] {
    return [...this.queues].filter(({ kind }) => kind.slug === slug);
  }

  /** Number of jobs by slug; only Cargos that have some. */
  countBySlug(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { kind, size } of this.queues) counts.set(kind.slug, (counts.get(kind.slug) ?? 0) + size);
    return counts;
  }

  /** Those whose jobs avoid Islands that are online, in an order that does not depend on history. */
  avoidingQueues(): JobQueue[] {
    return [...this.#avoiding].sort((a, b) => (keyOf(a.kind) < keyOf(b.kind) ? -1 : 1));
  }

  get(jobId: string): QueuedJob | undefined {
    return this.#jobs.get(jobId);
  }

  /** Adds a job, or replaces one that waits already, whose patience ends as before. Returns its queue. */
  add(job: WaitingJob, nowMs: number): JobQueue {
    const { id, jobClass, createdAtMs, avoidIslands } = job;
    const before = this.#jobs.get(id);
    if (before !== undefined) this.#takeOut(before);
    else if (this.#shouldWait(job)) this.#avoidsUntilMs.set(id, nowMs + AVOIDANCE_DELAY_MS);
    const account = this.#classes.enter(jobClass, job.accountId, job.share);
    const kind = { ...workKindOf(job), jobClass, ...this.#avoidance(job) };
    const avoidAccounts = job.avoidAccounts ?? null;
    const queued = {
      heapIndex: -1,
      id,
      kind,
      dueAtMs: dueAtMs(job),
      createdAtMs,
      account,
      avoidIslands,
      avoidAccounts,
    };
    this.#jobs.set(id, queued);
    for (const islandId of avoidIslands) {
      const avoiders = this.#avoidersOf.get(islandId) ?? new Set();
      this.#avoidersOf.set(islandId, avoiders.add(queued));
    }
    return this.#enqueue(queued);
  }

  /** The Island came or went: the jobs that avoid it are now of another kind. */
  regroup(islandId: string): void {
    for (const job of this.#avoidersOf.get(islandId) ?? []) this.#regroupOne(job);
  }

  /** Jobs whose patience has ended go back to Islands that they avoid, from now on. Returns their queues, each once. */
  endAvoidance(nowMs: number): JobQueue[] {
    const ended: string[] = [];
    for (const [jobId, untilMs] of this.#avoidsUntilMs) {
      if (untilMs > nowMs) break;
      ended.push(jobId);
    }
    for (const jobId of ended) this.#avoidsUntilMs.delete(jobId);
    const jobs = ended.flatMap((id) => this.#jobs.get(id) ?? []);
    return [...new Set(jobs.flatMap((job) => this.#regroupOne(job)))];
  }

  /** Unknown ids are ignored. */
  remove(jobId: string): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    this.#takeOut(job);
    this.#avoidsUntilMs.delete(jobId);
  }

  /** The job takes a slot and waits no longer. Its class and account are charged. */
  start(job: QueuedJob, nowMs: number): SlotUse {
    const { kind, account } = job;
    this.#unlist(job);
    this.#avoidsUntilMs.delete(job.id);
    const use = this.#classes.charge(kind.jobClass, account, nowMs);
    this.#classes.leave(kind.jobClass, account);
    return use;
  }

  /** The job is to go to another coordinator. Its class and account are charged what it will take by the estimate, for good. */
  lend(job: QueuedJob): void {
    this.setAside(job);
    this.#classes.lend(job.kind.jobClass, job.account);
  }

  /** Leaves the job out of the competition until {@link readmit}. */
  setAside(job: QueuedJob): void {
    this.#dequeue(job);
    this.#aside.add(job);
  }

  /** The job competes again. Returns its queue; none if it was not set aside. */
  readmit(jobId: string): JobQueue[] {
    const job = this.#jobs.get(jobId);
    return job !== undefined && this.#aside.delete(job) ? [this.#enqueue(job)] : [];
  }

  /** The slot that `start()` gave is free again. */
  end(use: SlotUse, nowMs: number): void {
    this.#classes.settle(use, nowMs);
  }

  /**
   * The next job for an Island. `mayRun`: whether the Island may get jobs of a kind; `loaded`: slugs that it has in memory. The class
   * whose turn it is, in it the account whose turn it is, and its job that is due first; an account may be passed over once.
   */
  nextFor(mayRun: (kind: JobKind) => boolean, loaded: readonly string[]): QueuedJob | undefined {
    const heads = [...this.#queues.values()].flatMap((queue) => {
      const head = mayRun(queue.kind) ? queue.head() : undefined;
      return head === undefined ? [] : [head];
    });
    const present = JOB_CLASSES.filter((each) => heads.some(({ kind }) => kind.jobClass === each));
    const [jobClass] = present.toSorted((a, b) => {
      return goesFirst(this.#classes.shareOf(a), this.#classes.shareOf(b)) ? -1 : 1;
    });
    const ofClass = heads.filter(({ kind }) => kind.jobClass === jobClass);
    const next = firstOf(ofClass);
    if (next === undefined || loaded.includes(next.kind.slug)) return next;
    const inMemory = firstOf(ofClass.filter(({ kind }) => loaded.includes(kind.slug)));
    if (inMemory !== undefined && next.account.passedOver < MAX_PASSED_OVER) {
      next.account.passedOver += 1;
      return inMemory;
    }
    next.account.passedOver = 0;
    return next;
  }

  /** 1-based place among the waiting jobs of its Cargo and class that the same Islands may run. The job must wait. */
  positionOf(job: QueuedJob): number {
    const { jobClass } = job.kind;
    const work = workKeyOf(job.kind);
    const siblings = this.queuesOf(job.kind.slug).filter(
      ({ kind }) => kind.jobClass === jobClass && workKeyOf(kind) === work,
    );
    return positionOf(job, siblings, this.#classes.virtualMsOf(jobClass));
  }

  #takeOut(job: QueuedJob): void {
    this.#unlist(job);
    this.#classes.leave(job.kind.jobClass, job.account);
  }

  /** Puts a job into the queue of what it avoids now. Returns it; none for one that was set aside. */
  #regroupOne(job: QueuedJob): JobQueue[] {
    const isAside = this.#aside.has(job);
    if (!isAside) this.#dequeue(job);
    job.kind = { ...job.kind, ...this.#avoidance(job) };
    return isAside ? [] : [this.#enqueue(job)];
  }

  /** Another coordinator may have an Island for the job that it does not avoid. */
  #shouldWait(job: WaitingJob): boolean {
    const avoids = job.avoidIslands.length > 0 || (job.avoidAccounts?.size ?? 0) > 0;
    return avoids && this.#mayRunElsewhere(job);
  }

  #unlist(job: QueuedJob): void {
    this.#dequeue(job);
    this.#jobs.delete(job.id);
    for (const islandId of job.avoidIslands) {
      const avoiders = this.#avoidersOf.get(islandId);
      avoiders?.delete(job);
      if (avoiders?.size === 0) this.#avoidersOf.delete(islandId);
    }
  }

  #enqueue(job: QueuedJob): JobQueue {
    const key = keyOf(job.kind);
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      queue = new JobQueue(job.kind);
      this.#queues.set(key, queue);
    }
    // One object for all of them: 100,000 jobs may wait.
    job.kind = queue.kind;
    if (job.kind.avoidIslands.length > 0) this.#avoiding.add(queue);
    queue.add(job);
    return queue;
  }

  #dequeue(job: QueuedJob): void {
    if (this.#aside.delete(job)) return;
    const key = keyOf(job.kind);
    const queue = this.#queues.get(key);
    if (queue === undefined) throw new Error(`Job ${job.id} waits in no queue`);
    queue.remove(job);
    if (queue.size > 0) return;
    this.#queues.delete(key);
    this.#avoiding.delete(queue);
  }

  #avoidance({
    id,
    avoidIslands,
  }: Pick<WaitingJob, "id" | "avoidIslands">): Pick<JobKind, "avoidIslands" | "mustAvoid"> {
    const online = avoidIslands.length === 0 ? avoidIslands : avoidIslands.filter(this.#isOnline).sort();
    return { avoidIslands: online, mustAvoid: online.length > 0 && this.#avoidsUntilMs.has(id) };
  }
}

function firstOf(heads: readonly QueuedJob[]): QueuedJob | undefined {
  return heads.reduce<QueuedJob | undefined>((first, job) => {
    return first === undefined || isFirst(job, first) ? job : first;
  }, undefined);
}

function isFirst(a: QueuedJob, b: QueuedJob): boolean {
  return a.account === b.account ? isDueFirst(a, b) : goesFirst(a.account, b.account);
}

/**
 * 1-based place of a job in the order in which the jobs of `queues` start, by the shares and estimates as they are now.
 * @param queues All queues of its Cargo and class that the same account's Islands serve; one of them has the job.
 * @param virtualMs Of the class.
 */
function positionOf(job: QueuedJob, queues: readonly JobQueue[], virtualMs: number): number {
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
