import type { Cargo } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import type { JobError } from "../../shared/errors.ts";
import { DEFAULT_RUN_LIMIT_MS, DEFAULT_WAIT_LIMIT_MS } from "../catalog/cargo-fields.ts";
import type { LiveJob } from "./live-job.ts";

/** A job whose Island was lost gets at least so long to find another, however long it had waited for the first. */
const NEXT_ATTEMPT_WAIT_MS = 60_000;

export interface DeadlinesDeps {
  readonly clock: Pick<Clock, "now" | "schedule">;
  /** What the job runs; undefined when that is gone. */
  readonly cargoOf: (job: LiveJob) => Pick<Cargo, "runLimitMs" | "waitLimitMs"> | undefined;
  readonly onExpired: (job: LiveJob, error: JobError) => void;
}

/** How long a job may wait for its start, and then run. It has one timer, which each call replaces. */
export class Deadlines {
  readonly #deps: DeadlinesDeps;

  constructor(deps: DeadlinesDeps) {
    this.#deps = deps;
  }

  /** What a job of a batch waited for others of its account does not count against it. README, "Batches". */
  beginWait(job: LiveJob, earliestMs = 0): void {
    const { clock, cargoOf } = this.#deps;
    if (job.batchId !== null) {
      job.waitsSinceMs = clock.now();
      job.waitDeadlineMs = job.waitsSinceMs + (cargoOf(job)?.waitLimitMs ?? DEFAULT_WAIT_LIMIT_MS);
    }
    this.#armWait(job, Math.max(job.waitDeadlineMs, earliestMs));
  }

  /** After a lost attempt. */
  waitAgain(job: LiveJob): void {
    this.#armWait(job, Math.max(job.waitDeadlineMs, this.#deps.clock.now() + NEXT_ATTEMPT_WAIT_MS));
  }

  beginRun(job: LiveJob, earliestMs = 0): void {
    const limitMs = this.#deps.cargoOf(job)?.runLimitMs ?? DEFAULT_RUN_LIMIT_MS;
    const deadlineMs = (job.startedAtMs ?? this.#deps.clock.now()) + limitMs;
    const message = `The run took longer than its limit of ${limitMs / 1_000} s`;
    this.#arm(job, Math.max(deadlineMs, earliestMs), { code: "run_timeout", message, retryable: false });
  }

  #armWait(job: LiveJob, deadlineMs: number): void {
    const message = "No Island began the job within its wait limit";
    this.#arm(job, deadlineMs, { code: "wait_timeout", message, retryable: true });
  }

  #arm(job: LiveJob, deadlineMs: number, error: JobError): void {
    const { clock, onExpired } = this.#deps;
    job.deadline?.cancel();
    job.deadline = clock.schedule(deadlineMs - clock.now(), () => onExpired(job, error));
  }
}
