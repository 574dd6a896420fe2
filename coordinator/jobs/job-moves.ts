import type { ActiveJobs } from "./active-jobs.ts";
import type { JobMemory } from "./job-memory.ts";
import type { MutableJob } from "./mutable-job.ts";

/** Commands for jobs that go to another coordinator. What they say has happened in storage, or is about to. */
export class JobMoves {
  readonly #active: ActiveJobs;

  constructor(active: ActiveJobs) {
    this.#active = active;
  }

  /** Takes waiting jobs out of the competition, until {@link end}. Returns those that may move: durable ones that wait. */
  begin(jobIds: readonly string[]): string[] {
    const jobs = jobIds.flatMap((id) => this.#active.byId.get(id) ?? []);
    const moving = jobs.filter((job) => job.state === "pending" && job.stored === null && !job.isMoving);
    for (const job of moving) {
      job.isMoving = true;
      this.#active.emit({ type: "job_withdrawn", job });
    }
    return moving.map(({ id }) => id);
  }

  /** What is not stored of these jobs. Those of which there is nothing are left out. */
  memoriesOf(jobIds: readonly string[]): JobMemory[] {
    return jobIds.flatMap((jobId) => {
      const { letDowns, final, trace } = this.#active.byId.get(jobId) ?? { letDowns: [], final: null, trace: null };
      if (letDowns.length === 0 && final === null && trace === null) return [];
      return [{ jobId, letDowns, final, ...(trace === null ? {} : { trace }) }];
    });
  }

  /** The job's trace, which goes on at its next owner. Ignored for a job that is gone. */
  noteTrace(jobId: string, trace: string): void {
    const job = this.#active.byId.get(jobId);
    if (job !== undefined) job.trace = trace;
  }

  /** A move is over. `toId`: who has the job now; null if it stays, and competes again. Ignored for a job that is gone. */
  end(jobId: string, toId: string | null): void {
    const job = this.#active.byId.get(jobId);
    if (job?.isMoving !== true) return undefined;
    job.isMoving = false;
    if (toId !== null) return this.#active.drop(job, toId);
    return this.#competeOn(job);
  }

  /** Another coordinator has the job, `ownerId` if it is known which. Ignored for one that is not here, that ended, and that is being stored. */
  drop(jobId: string, ownerId: string | null = null): void {
    const job = this.#active.byId.get(jobId);
    // What has ended learns it from the write of its end.
    if (job !== undefined && job.stored === null && !job.hasEnded) this.#active.drop(job, ownerId);
  }

  /** A parked one waits on. */
  #competeOn(job: MutableJob): void {
    if (job.state !== "pending" || !job.hasPlace) return undefined;
    if (!this.#active.hasCargo(job)) return void this.#active.failWithoutCargo(job);
    return this.#active.compete(job);
  }
}
