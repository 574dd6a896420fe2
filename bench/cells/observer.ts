import { dueAtMs } from "../../coordinator/scheduler/job-queue.ts";
import { IndexedHeap, type HeapItem } from "../../coordinator/scheduler/indexed-heap.ts";
import type { Fleet } from "./fleet.ts";
import { FreeTimes } from "./free-times.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import type { Workload } from "./workload.ts";

/** Period in which slots are contended, for the comparison of shares. */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

interface QueuedDue extends HeapItem {
  readonly job: number;
  readonly dueMs: number;
}

/**
 * Wait limit of jobs, which is the wait limit of all shipped Cargos. The priority of a job counts for half of the
 * limit.
 */
export const WAIT_LIMIT_MS = 3_600_000;
const NEW = 0;
const WAITING = 1;
const RUNNING = 2;
const DONE = 3;

function isEarlierJob(a: QueuedDue, b: QueuedDue): boolean {
  return a.job < b.job;
}

/** Observes all coordinators and records the events of each job. @throws if a job is lost or runs twice. */
export class Observer {
  readonly startMs: Float64Array;
  /** Longest part of each job's wait in which one suitable Island had a free slot throughout. */
  readonly besideMs: Float64Array;
  /** Total part of each job's wait in which any suitable slot was free. */
  readonly idleWaitMs: Float64Array;
  /** Number of transfers of each job. */
  readonly moves: Uint8Array;
  /** Slot time of each account in the window. */
  readonly serviceMs: Float64Array;
  /** Number of starts while an earlier due job of the same account, class and Cargo waited at any coordinator. */
  outOfOrder = 0;
  started = 0;
  readonly #clock: VirtualClock;
  readonly #fleet: Fleet;
  readonly #workload: Workload;
  readonly #window: Window;
  readonly #state: Uint8Array;
  /** Free periods by class of Islands. */
  readonly #freeTimes: readonly FreeTimes[];
  /**
   * For each Cargo: the number of suitable free slots, the total time in which there was at least one, and the start of
   * the current such period.
   */
  readonly #fitting: { free: number; totalMs: number; sinceMs: number }[];
  readonly #queues = new Map<number, IndexedHeap<QueuedDue>>();
  readonly #queued = new Map<number, QueuedDue>();

  constructor(clock: VirtualClock, fleet: Fleet, workload: Workload, window: Window) {
    this.#clock = clock;
    this.#fleet = fleet;
    this.#workload = workload;
    this.#window = window;
    this.startMs = new Float64Array(workload.jobs);
    this.besideMs = new Float64Array(workload.jobs);
    this.idleWaitMs = new Float64Array(workload.jobs);
    this.moves = new Uint8Array(workload.jobs);
    this.serviceMs = new Float64Array(workload.accounts);
    this.#state = new Uint8Array(workload.jobs);
    this.#freeTimes = Array.from({ length: fleet.classes }, () => new FreeTimes());
    this.#fitting = fleet.cargos.map(() => ({ free: 0, totalMs: 0, sinceMs: 0 }));
  }

  slotsCame(island: number, free: number): void {
    this.#changeFree(island, free);
  }

  submitted(job: number): void {
    this.#advance(job, NEW, WAITING);
    this.idleWaitMs[job] = -this.#idleMs(job);
    const queued: QueuedDue = { heapIndex: -1, job, dueMs: dueMsOf(this.#workload, job) };
    const key = this.#queueKey(job);
    const queue = this.#queues.get(key) ?? new IndexedHeap(isEarlierJob);
    this.#queues.set(key, queue);
    queue.push(queued, queued.dueMs);
    this.#queued.set(job, queued);
  }

  moved(job: number): void {
    this.#advance(job, WAITING, WAITING);
    this.moves[job] = Math.min(255, (this.moves[job] ?? 0) + 1);
  }

  begun(job: number, island: number): void {
    this.started += 1;
    this.#advance(job, WAITING, RUNNING);
    const nowMs = this.#clock.monotonicMs();
    this.startMs[job] = nowMs;
    // The difference of two sums may be slightly negative because of rounding.
    this.idleWaitMs[job] = Math.max(0, (this.idleWaitMs[job] ?? 0) + this.#idleMs(job));
    this.besideMs[job] = this.#longestBeside(job);
    this.#noteOrder(job);
    this.#changeFree(island, -1);
    const { fromMs, toMs } = this.#window;
    const endMs = nowMs + (this.#workload.runMs[job] ?? 0);
    const account = this.#workload.account[job] as number;
    const servedMs = Math.max(0, Math.min(endMs, toMs) - Math.max(nowMs, fromMs));
    this.serviceMs[account] = (this.serviceMs[account] ?? 0) + servedMs;
  }

  ended(job: number): void {
    this.#advance(job, RUNNING, DONE);
  }

  /** Records that a slot of the Island is free. */
  slotFreed(island: number): void {
    this.#changeFree(island, 1);
  }

  #advance(job: number, from: number, to: number): void {
    if (this.#state[job] !== from) throw new Error(`Job ${job} is in state ${this.#state[job]}, expected ${from}`);
    this.#state[job] = to;
  }

  #noteOrder(job: number): void {
    const queue = this.#queues.get(this.#queueKey(job));
    const queued = this.#queued.get(job);
    if (queue === undefined || queued === undefined) throw new Error(`Job ${job} is not waiting`);
    const first = queue.peek();
    if (first !== undefined && first.dueMs < queued.dueMs) this.outOfOrder += 1;
    queue.remove(queued);
    this.#queued.delete(job);
    if (queue.size === 0) this.#queues.delete(this.#queueKey(job));
  }

  #queueKey(job: number): number {
    const { account, cargo, isChat } = this.#workload;
    const kind = (cargo[job] as number) * 2 + (isChat[job] as number);
    return (account[job] as number) * this.#fleet.cargos.length * 2 + kind;
  }

  /** Returns the total time until now in which a suitable slot was free. */
  #idleMs(job: number): number {
    const fitting = this.#fitting[this.#workload.cargo[job] as number];
    if (fitting === undefined) throw new Error(`Job ${job} has an unknown Cargo`);
    return fitting.totalMs + (fitting.free > 0 ? this.#clock.monotonicMs() - fitting.sinceMs : 0);
  }

  #longestBeside(job: number): number {
    const { arrivalMs, cargo } = this.#workload;
    const fitsClass = this.#fleet.cargos[cargo[job] as number]?.fitsClass;
    const nowMs = this.#clock.monotonicMs();
    return this.#freeTimes.reduce((longestMs, times, classIndex) => {
      if (fitsClass?.[classIndex] !== true) return longestMs;
      return Math.max(longestMs, times.longestSince(arrivalMs[job] as number, nowMs));
    }, 0);
  }

  #changeFree(island: number, by: number): void {
    const nowMs = this.#clock.monotonicMs();
    const classIndex = this.#fleet.classOf(island);
    this.#freeTimes[classIndex]?.change(island, by, nowMs);
    for (const [index, { fitsClass }] of this.#fleet.cargos.entries()) {
      const fitting = this.#fitting[index];
      if (fitting === undefined || !fitsClass[classIndex]) continue;
      if (fitting.free === 0) fitting.sinceMs = nowMs;
      fitting.free += by;
      if (fitting.free === 0) fitting.totalMs += nowMs - fitting.sinceMs;
    }
  }
}

function dueMsOf({ arrivalMs, priority }: Workload, job: number): number {
  return dueAtMs({
    createdAtMs: arrivalMs[job] as number,
    priority: priority[job] as number,
    waitLimitMs: WAIT_LIMIT_MS,
  });
}
