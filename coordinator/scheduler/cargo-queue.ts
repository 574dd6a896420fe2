import { Band, type QueuedJob } from "./band.ts";
import { IndexedHeap } from "./indexed-heap.ts";

function isHigher(a: Band, b: Band): boolean {
  return a.number > b.number;
}

/** Jobs of one Cargo that the same Islands may run. */
export interface JobKind {
  readonly slug: string;
  /** As in `WaitingJob`. */
  readonly onlyIslandsOf: string | null;
}

/** Unique for each kind, as no slug has a space. */
export function keyOfKind({ slug, onlyIslandsOf }: JobKind): string {
  return onlyIslandsOf === null ? slug : `${slug} ${onlyIslandsOf}`;
}

/** The waiting jobs of one kind, the highest band first. */
export class CargoQueue {
  readonly kind: JobKind;
  #size = 0;
  readonly #bands = new Map<number, Band>();
  readonly #order = new IndexedHeap<Band>(isHigher);

  constructor({ slug, onlyIslandsOf }: JobKind) {
    this.kind = { slug, onlyIslandsOf };
  }

  get size(): number {
    return this.#size;
  }

  add(job: QueuedJob): void {
    let band = this.#bands.get(job.band);
    if (band === undefined) {
      band = new Band(job.band);
      this.#bands.set(job.band, band);
      this.#order.push(band);
    }
    band.add(job);
    this.#size += 1;
  }

  /** The job must be in this queue. */
  remove(job: QueuedJob): void {
    const band = this.#bandOf(job);
    band.remove(job);
    this.#size -= 1;
    if (band.size > 0) return;
    this.#order.remove(band);
    this.#bands.delete(job.band);
  }

  /** The next job; undefined when empty. */
  head(): QueuedJob | undefined {
    return this.#order.peek()?.head();
  }

  /** 1-based position of a job of this queue, by the turns as they are now. */
  positionOf(job: QueuedJob): number {
    let ahead = 0;
    for (const band of this.#bands.values()) {
      if (band.number > job.band) ahead += band.size;
    }
    return ahead + this.#bandOf(job).positionOf(job);
  }

  #bandOf(job: QueuedJob): Band {
    const band = this.#bands.get(job.band);
    if (band === undefined) throw new Error(`Job ${job.id} is not in the queue of ${this.kind.slug}`);
    return band;
  }
}
