import type { Turn } from "./account-turns.ts";
import { IndexedHeap, type HeapItem } from "./indexed-heap.ts";

/** A waiting job as the queues hold it. */
export interface QueuedJob extends HeapItem {
  readonly id: string;
  readonly slug: string;
  readonly onlyIslandsOf: string | null;
  readonly band: number;
  readonly createdAtMs: number;
  readonly avoidIslands: readonly string[];
  readonly turn: Turn;
}

/** Waiting raises a job by one priority in this time. Source: DESIGN §4, row Priority. */
const MS_PER_PRIORITY = 60_000;

/**
 * Priority that includes the wait; higher goes first. It never changes while the job waits: of two jobs, the one that was created
 * a minute earlier keeps its lead of one. README, "Bands", has what the rounding costs.
 */
export function bandOf(job: { readonly priority: number; readonly createdAtMs: number }): number {
  return Math.floor((job.priority * MS_PER_PRIORITY - job.createdAtMs) / MS_PER_PRIORITY);
}

export function isOlder(a: QueuedJob, b: QueuedJob): boolean {
  return a.createdAtMs === b.createdAtMs ? a.id < b.id : a.createdAtMs < b.createdAtMs;
}

/** The jobs of one account in a band. */
interface Line extends HeapItem {
  readonly turn: Turn;
  /** The turn's place when the line was last sorted. */
  place: number;
  readonly jobs: IndexedHeap<QueuedJob>;
}

function hasEarlierPlace(a: Line, b: Line): boolean {
  return a.place < b.place;
}

/** The jobs of one Cargo with the same band number: accounts take turns, and an account's oldest job goes first. */
export class Band implements HeapItem {
  heapIndex = -1;
  readonly number: number;
  size = 0;
  readonly #lines = new Map<string, Line>();
  readonly #order = new IndexedHeap<Line>(hasEarlierPlace);

  constructor(number: number) {
    this.number = number;
  }

  add(job: QueuedJob): void {
    const { turn } = job;
    let line = this.#lines.get(turn.accountId);
    if (line === undefined) {
      line = { heapIndex: -1, turn, place: turn.place, jobs: new IndexedHeap(isOlder) };
      this.#lines.set(turn.accountId, line);
      this.#order.push(line);
    }
    line.jobs.push(job);
    this.size += 1;
  }

  /** The job must be in this band. */
  remove(job: QueuedJob): void {
    const line = this.#lineOf(job);
    line.jobs.remove(job);
    this.size -= 1;
    if (line.jobs.size > 0) return;
    this.#order.remove(line);
    this.#lines.delete(job.turn.accountId);
  }

  /**
   * The next job; undefined when empty. An account that was served in another band has a later place than its line is sorted by.
   * Places only grow, so it is enough to re-sort the line in front: each turn costs each band at most one move.
   */
  head(): QueuedJob | undefined {
    for (;;) {
      const line = this.#order.peek();
      if (line === undefined || line.place === line.turn.place) return line?.jobs.peek();
      line.place = line.turn.place;
      this.#order.update(line);
    }
  }

  /** 1-based position of a job in this band, by the turns as they are now. Looks at every account of the band. */
  positionOf(job: QueuedJob): number {
    const older = this.#lineOf(job)
      .jobs.items()
      .filter((other) => isOlder(other, job)).length;
    let position = older + 1;
    for (const { turn, jobs } of this.#lines.values()) {
      if (turn === job.turn) continue;
      const turnsBefore = turn.place < job.turn.place ? older + 1 : older;
      position += Math.min(jobs.size, turnsBefore);
    }
    return position;
  }

  #lineOf(job: QueuedJob): Line {
    const line = this.#lines.get(job.turn.accountId);
    if (line === undefined) throw new Error(`Job ${job.id} is not in band ${this.number}`);
    return line;
  }
}
