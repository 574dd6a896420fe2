import type { LiveJob } from "./live-job.ts";

/** Jobs in the order in which they came. Places are found by halving, as a batch that is looked at asks for each of its own. */
export class WaitingLine {
  /** In order of ticket. */
  readonly #jobs: { readonly ticket: number; readonly job: LiveJob }[] = [];
  readonly #tickets = new Map<string, number>();
  #nextTicket = 0;

  get size(): number {
    return this.#jobs.length;
  }

  /** The job that came first; undefined when empty. */
  get first(): LiveJob | undefined {
    return this.#jobs[0]?.job;
  }

  /** Puts a job at the end. It must not be in the line. */
  push(job: LiveJob): void {
    this.#tickets.set(job.id, this.#nextTicket);
    this.#jobs.push({ ticket: this.#nextTicket, job });
    this.#nextTicket += 1;
  }

  /** False for a job that is not in the line. */
  remove(jobId: string): boolean {
    const position = this.positionOf(jobId);
    if (position === null) return false;
    this.#jobs.splice(position - 1, 1);
    this.#tickets.delete(jobId);
    return true;
  }

  /** 1-based; null for a job that is not in the line. */
  positionOf(jobId: string): number | null {
    const wanted = this.#tickets.get(jobId);
    if (wanted === undefined) return null;
    let [low, high] = [0, this.#jobs.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#jobs[middle]?.ticket ?? wanted) < wanted) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }
}
