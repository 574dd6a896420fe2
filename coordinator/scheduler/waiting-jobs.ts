import type { WaitingJob, WorkKind } from "./events.ts";
import { workKeyOf, workKindOf } from "./slot-offer.ts";
import { costOf, goesFirst } from "./fair-share.ts";
import { JOB_CLASSES, JobClasses, type AccountShare, type SlotUse } from "./job-classes.ts";
import { IndexedHeap, type HeapItem } from "./indexed-heap.ts";
import { dueAtMs, isDueFirst, JobQueue, type JobKind, type QueuedJob } from "./job-queue.ts";

/** Returns the unique key of a kind. Slugs, ids and names of features have no spaces or plus signs. */
function keyOf({ jobClass, slug, onlyIslandsOf, features = [], avoidIslands, mustAvoid }: JobKind): string {
  return [
    jobClass,
    slug,
    onlyIslandsOf ?? "",
    features.join("+"),
    ...avoidIslands,
    ...(mustAvoid ? ["", "must_avoid"] : []),
  ].join(" ");
}

/**
 * Avoidance delay: how long a job waits for a better Island of another coordinator before it may return to an Island
 * that it avoids. Coordinators with free slots ask for the job within this time.
 */
export const AVOIDANCE_DELAY_MS = 1_000;
/**
 * Maximum number of times an account is passed over in favour of a job whose Cargo the Island has in memory. Source:
 * Zaharia et al., "Delay Scheduling" (EuroSys 2010).
 */
const MAX_PASSED_OVER = 1;

/** A slot of a busy Island that is reserved for a job, although other Islands are free. */
interface Hold extends HeapItem {
  readonly job: QueuedJob;
  readonly islandId: string;
  readonly untilMs: number;
}

function hasLowerId(a: Hold, b: Hold): boolean {
  return a.job.id < b.job.id;
}

/** All waiting jobs, ordered by fair share and priority. */
export class WaitingJobs {
  readonly #classes: JobClasses;
  readonly #jobs = new Map<string, QueuedJob>();
  /** Queues with at least one job, by `keyOf()`. */
  readonly #queues = new Map<string, JobQueue>();
  readonly #avoiding = new Set<JobQueue>();
  readonly #aside = new Set<QueuedJob>();
  /** Holds by job id, in the order in which they began, and by their end. */
  readonly #holds = new Map<string, Hold>();
  readonly #holdEnds = new IndexedHeap<Hold>(hasLowerId);
  /** Number of holds of each Island. */
  readonly #heldFor = new Map<string, number>();
  /** Waiting jobs by the id of an Island that they avoid, online or not. */
  readonly #avoidersOf = new Map<string, Set<QueuedJob>>();
  /** Ends of avoidance delays, by job id; the earliest is first. */
  readonly #avoidsUntilMs = new Map<string, number>();
  readonly #isOnline: (islandId: string) => boolean;
  readonly #mayRunElsewhere: (kind: WorkKind) => boolean;

  /** For the parameters see `Scheduler`. */
  constructor(
    chatShare: number,
    isOnline: (islandId: string) => boolean,
    mayRunElsewhere: (kind: WorkKind) => boolean,
  ) {
    this.#classes = new JobClasses(chatShare);
    this.#isOnline = isOnline;
    this.#mayRunElsewhere = mayRunElsewhere;
  }

  /** Time at which {@link endDelays} is due; Infinity if no job has a delay. */
  get nextDelayEndMs(): number {
    const [avoidsUntilMs = Infinity] = this.#avoidsUntilMs.values();
    return Math.min(avoidsUntilMs, this.#holdEnds.peek()?.untilMs ?? Infinity);
  }

  get size(): number {
    return this.#jobs.size;
  }

  get queues(): Iterable<JobQueue> {
    return this.#queues.values();
  }

  queuesOf(slug: string): JobQueue[] {
    return [...this.queues].filter(({ kind }) => kind.slug === slug);
  }

  countBySlug(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const count = (slug: string, jobs: number): void => void counts.set(slug, (counts.get(slug) ?? 0) + jobs);
    for (const { kind, size } of this.queues) count(kind.slug, size);
    for (const { job } of this.#holds.values()) count(job.kind.slug, 1);
    return counts;
  }

  /** Returns the queues of jobs that avoid an online Island, and `others`, in an order that is independent of history. */
  avoidingQueues(others: readonly JobQueue[] = []): JobQueue[] {
    return [...new Set([...this.#avoiding, ...others])].sort((a, b) => (keyOf(a.kind) < keyOf(b.kind) ? -1 : 1));
  }

  get(jobId: string): QueuedJob | undefined {
    return this.#jobs.get(jobId);
  }

  /** Returns the kind that a job has in a queue. */
  kindOf(job: WaitingJob): JobKind {
    return { ...workKindOf(job), jobClass: job.jobClass, ...this.#avoidance(job) };
  }

  /** Adds a job, or replaces one that already waits and keeps its avoidance delay. Returns its queue. */
  add(job: WaitingJob, nowMs: number): JobQueue {
    const { id, jobClass, createdAtMs, avoidIslands } = job;
    const before = this.#jobs.get(id);
    if (before !== undefined) this.#takeOut(before);
    else if (this.#shouldWait(job)) this.#avoidsUntilMs.set(id, nowMs + AVOIDANCE_DELAY_MS);
    const account = this.#classes.enter(jobClass, job.accountId, job.share);
    const kind = this.kindOf(job);
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
      size: job.size,
      mayHold: true,
    };
    this.#jobs.set(id, queued);
    for (const islandId of avoidIslands) {
      const avoiders = this.#avoidersOf.get(islandId) ?? new Set();
      this.#avoidersOf.set(islandId, avoiders.add(queued));
    }
    return this.#enqueue(queued);
  }

  /** Moves the jobs that avoid an Island to their new queues after it came online or left. */
  regroup(islandId: string): void {
    for (const job of this.#avoidersOf.get(islandId) ?? []) this.#regroupOne(job);
  }

  /** Ends the avoidance delays and holds that are over. Returns the queues of their jobs, each once. */
  endDelays(nowMs: number): JobQueue[] {
    const ended: string[] = [];
    for (const [jobId, untilMs] of this.#avoidsUntilMs) {
      if (untilMs > nowMs) break;
      ended.push(jobId);
    }
    for (const jobId of ended) this.#avoidsUntilMs.delete(jobId);
    const jobs = ended.flatMap((id) => this.#jobs.get(id) ?? []);
    const queues = new Set(jobs.flatMap((job) => this.#regroupOne(job)));
    for (let hold = this.#holdEnds.peek(); hold !== undefined; hold = this.#holdEnds.peek()) {
      if (hold.untilMs > nowMs) break;
      queues.add(this.#endHold(hold));
    }
    return [...queues];
  }

  /** Removes a job that no longer waits, and ignores unknown ids. */
  remove(jobId: string): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    this.#takeOut(job);
    this.#avoidsUntilMs.delete(jobId);
  }

  /** Removes a job that takes a slot, and charges its class and account. */
  start(job: QueuedJob): SlotUse {
    const { kind, account } = job;
    this.#unlist(job);
    this.#avoidsUntilMs.delete(job.id);
    const use = this.#classes.charge(kind.jobClass, account);
    this.#classes.leave(kind.jobClass, account);
    return use;
  }

  /** Charges a job that takes a slot without having waited. */
  startNow({ jobClass, accountId, share }: WaitingJob): SlotUse {
    const account = this.#classes.enter(jobClass, accountId, share);
    const use = this.#classes.charge(jobClass, account);
    this.#classes.leave(jobClass, account);
    return use;
  }

  /** Sets aside a job that is to move to another coordinator. Its class and account pay the estimate. */
  lend(job: QueuedJob): void {
    this.setAside(job);
    this.#classes.lend(job.kind.jobClass, job.account);
  }

  /** Excludes the job from the competition until {@link readmit}. */
  setAside(job: QueuedJob): void {
    this.#dequeue(job);
    this.#aside.add(job);
  }

  /** Returns a job that was set aside to its queue. Returns the queue; empty if the job was not set aside. */
  readmit(jobId: string): JobQueue[] {
    const job = this.#holds.has(jobId) ? undefined : this.#jobs.get(jobId);
    return job !== undefined && this.#aside.delete(job) ? [this.#enqueue(job)] : [];
  }

  /** Reserves the next slot of a busy Island for a job, until a time. */
  hold(job: QueuedJob, islandId: string, untilMs: number): void {
    this.setAside(job);
    job.mayHold = false;
    const hold = { heapIndex: -1, job, islandId, untilMs };
    this.#holds.set(job.id, hold);
    this.#holdEnds.push(hold, untilMs);
    this.#heldFor.set(islandId, this.heldFor(islandId) + 1);
  }

  /** Returns the number of slots of an Island that are reserved. */
  heldFor(islandId: string): number {
    return this.#heldFor.get(islandId) ?? 0;
  }

  get holdCount(): number {
    return this.#holds.size;
  }

  /** Returns the Island of which a slot is reserved for the job, and until when. */
  holdOf(jobId: string): Pick<Hold, "islandId" | "untilMs"> | undefined {
    return this.#holds.get(jobId);
  }

  /** Jobs for which a slot is reserved, in the order in which they began to wait for it. */
  get heldJobs(): readonly QueuedJob[] {
    return [...this.#holds.values()].map(({ job }) => job);
  }

  /** Returns the first job for which a slot of the Island is reserved, and that the Island may run. */
  firstHeldFor(islandId: string, mayRun: (kind: JobKind) => boolean): QueuedJob | undefined {
    if (this.heldFor(islandId) === 0) return undefined;
    for (const { job, islandId: id } of this.#holds.values()) if (id === islandId && mayRun(job.kind)) return job;
    return undefined;
  }

  /** Returns true if a slot is reserved for a job of the account. */
  hasHoldOf(accountId: string): boolean {
    for (const { job } of this.#holds.values()) if (job.account.accountId === accountId) return true;
    return false;
  }

  /** Ends the holds of an Island. Returns the queues of their jobs, each once. */
  endHoldsOf(islandId: string): JobQueue[] {
    return this.heldFor(islandId) === 0 ? [] : this.#endHolds((hold) => hold.islandId === islandId);
  }

  /** Ends the holds of a Cargo's jobs. */
  endHoldsOfCargo(slug: string): void {
    this.#endHolds(({ job }) => job.kind.slug === slug);
  }

  /** Corrects the charge of a job that left its slot: of its class to `usedMs`, of its account to `chargedMs`. */
  end(use: SlotUse, usedMs: number, chargedMs: number): void {
    this.#classes.settle(use, usedMs, chargedMs);
  }

  /**
   * Returns the next job for an Island, by class, account and due time. An account may be passed over once in favour of
   * a loaded Cargo.
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

  /**
   * Returns the 1-based position of a waiting job among those of its class that the same Islands may run, in the order
   * of starts by the current shares and estimates.
   */
  positionOf(job: QueuedJob): number {
    const { jobClass, slug } = job.kind;
    const work = workKeyOf(job.kind);
    const queues = this.queuesOf(slug).filter(({ kind }) => kind.jobClass === jobClass && workKeyOf(kind) === work);
    const virtualMs = this.#classes.virtualMsOf(jobClass);
    const counts = new Map<AccountShare, number>();
    let ownBefore = 0;
    for (const { account, jobs } of queues.flatMap(({ lines }) => [...lines])) {
      counts.set(account, (counts.get(account) ?? 0) + jobs.size);
      if (account === job.account) ownBefore += jobs.items().filter((other) => isDueFirst(other, job)).length;
    }
    let position = ownBefore + 1;
    for (const [account, count] of counts) {
      if (account !== job.account) position += startsBefore(account, count, job.account, ownBefore, virtualMs);
    }
    return position;
  }

  #endHolds(ends: (hold: Hold) => boolean): JobQueue[] {
    const queues = new Set<JobQueue>();
    for (const hold of [...this.#holds.values()]) if (ends(hold)) queues.add(this.#endHold(hold));
    return [...queues];
  }

  #endHold(hold: Hold): JobQueue {
    this.#forgetHold(hold);
    this.#aside.delete(hold.job);
    return this.#enqueue(hold.job);
  }

  #forgetHold(hold: Hold): void {
    this.#holds.delete(hold.job.id);
    this.#holdEnds.remove(hold);
    const rest = this.heldFor(hold.islandId) - 1;
    if (rest > 0) this.#heldFor.set(hold.islandId, rest);
    else this.#heldFor.delete(hold.islandId);
  }

  #takeOut(job: QueuedJob): void {
    this.#unlist(job);
    this.#classes.leave(job.kind.jobClass, job.account);
  }

  /** Moves a job to the queue for the Islands that it avoids now. Returns that queue; empty if the job is set aside. */
  #regroupOne(job: QueuedJob): JobQueue[] {
    const isAside = this.#aside.has(job);
    if (!isAside) this.#dequeue(job);
    job.kind = { ...job.kind, ...this.#avoidance(job) };
    return isAside ? [] : [this.#enqueue(job)];
  }

  /** Returns true if the job avoids Islands and another coordinator may have suitable Islands. */
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
    const queue = this.#queues.get(key) ?? new JobQueue(job.kind);
    this.#queues.set(key, queue);
    // All jobs of the queue share one object, to save memory when 100,000 jobs wait.
    job.kind = queue.kind;
    if (job.kind.avoidIslands.length > 0) this.#avoiding.add(queue);
    queue.add(job);
    return queue;
  }

  #dequeue(job: QueuedJob): void {
    const hold = this.#holds.get(job.id);
    if (hold !== undefined) this.#forgetHold(hold);
    if (this.#aside.delete(job)) return;
    const key = keyOf(job.kind);
    const queue = this.#queues.get(key);
    if (queue === undefined) throw new Error(`Job ${job.id} is in no queue (key ${key})`);
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

/** Counts the next `count` starts of `other` that come before start number `rank` (from 0) of `own`. */
function startsBefore(other: AccountShare, count: number, own: AccountShare, rank: number, virtualMs: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(other, middle, own, rank, virtualMs)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns true if start number `i` of `a` comes before start number `j` of `b`, both counted from 0. */
function isBefore(a: AccountShare, i: number, b: AccountShare, j: number, virtualMs: number): boolean {
  let [tagOfA, tagOfB] = [tagAt(a, i, virtualMs), tagAt(b, j, virtualMs)];
  while (tagOfA === tagOfB) {
    if (i === 0 || j === 0) return i === j ? a.order < b.order : i === 0;
    // The sharer whose previous start was earlier has the older tag. With equal costs, these starts tie as well.
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
