import type { Clock } from "../../shared/clock.ts";
import { Distribution } from "../../shared/distribution.ts";
import { FirstNames, OTHER, Tally } from "../../shared/tally.ts";
import { MICRO_PER_CREDIT } from "../credits/micro-credits.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobEnding } from "../store/job-store.ts";

export interface JobFiguresDeps {
  readonly jobs: Pick<JobRegistry, "subscribe">;
  readonly clock: Pick<Clock, "now">;
}

/** Cargos that have rows of their own. */
export const MAX_CARGO_NAMES = 50;
const MS_PER_S = 1_000;
const WAIT_BOUNDS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200];
const FIRST_OUTPUT_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];
const RUN_BOUNDS_S = [0.01, 0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600];
/** Code of what ended well. */
const NO_ERROR = "none";

/** How jobs go, by the events of their registry. A job costs a few additions, a token none. */
export class JobFigures {
  readonly outcomes = new Tally({
    name: "atoll_job_outcomes_total",
    help: "Jobs that ended, by state and error code",
    labelNames: ["state", "code"],
  });
  readonly cargos = new Tally({
    name: "atoll_cargo_jobs_ended_total",
    help: "Jobs that ended, by Cargo; private Cargos, and those after the first 50, are other",
    labelNames: ["cargo", "state"],
  });
  readonly begun = new Tally({
    name: "atoll_attempts_begun_total",
    help: "Attempts of jobs that Islands were given",
    labelNames: [],
  });
  readonly attempts = new Tally({
    name: "atoll_attempts_ended_total",
    help: "Attempts that ended, by outcome (a state of the job, or refused, failed, lost) and error code",
    labelNames: ["outcome", "code"],
  });
  readonly credits = new Tally({
    name: "atoll_credits_total",
    help: "Credits of jobs that ended: charged to clients, of which earned by Islands' owners, of which kept as fee",
    labelNames: ["kind"],
  });
  readonly promptTokens = new Tally({
    name: "atoll_prompt_tokens_total",
    help: "Prompt tokens of jobs that ended",
    labelNames: [],
  });
  readonly wait = new Distribution(
    {
      name: "atoll_job_assign_seconds",
      help: "From a job's submission, or its place for a job of a batch, to its first Island",
      labelNames: ["class"],
    },
    WAIT_BOUNDS_S,
  );
  readonly firstOutput = new Distribution(
    {
      name: "atoll_job_first_output_seconds",
      help: "From a job's submission, or its place for a job of a batch, to its first token or image",
      labelNames: ["class"],
    },
    FIRST_OUTPUT_BOUNDS_S,
  );
  readonly run = new Distribution(
    {
      name: "atoll_job_run_seconds",
      help: "Run of the last attempt of jobs that ended, by Cargo",
      labelNames: ["cargo"],
    },
    RUN_BOUNDS_S,
  );
  readonly #clock: Pick<Clock, "now">;
  readonly #cargoNames = new FirstNames(MAX_CARGO_NAMES);

  constructor({ jobs, clock }: JobFiguresDeps) {
    this.#clock = clock;
    for (const kind of ["charged", "earned", "fee"]) this.credits.add([kind], 0);
    jobs.subscribe((event) => {
      switch (event.type) {
        case "attempt_begun":
          return this.#begin(event.job);
        case "first_output":
          return this.firstOutput.observe([event.job.jobClass], this.#sinceS(event.job.waitsSinceMs));
        case "attempt_refused":
          return this.attempts.add(["refused", event.error.code]);
        case "attempt_failed":
          return this.attempts.add([event.cause, event.error.code]);
        case "job_ended":
          return this.#end(event.job, event.ending);
        default:
          return undefined;
      }
    });
  }

  get tallies(): readonly Tally[] {
    return [this.outcomes, this.cargos, this.begun, this.attempts, this.credits, this.promptTokens];
  }

  get distributions(): readonly Distribution[] {
    return [this.wait, this.firstOutput, this.run];
  }

  #begin(job: ActiveJob): void {
    this.begun.add([]);
    if (job.attempt === 1) this.wait.observe([job.jobClass], this.#sinceS(job.waitsSinceMs));
  }

  #end(job: ActiveJob, { error, usage, chargeMicro, postings }: JobEnding): void {
    const code = error?.code ?? NO_ERROR;
    this.outcomes.add([job.state, code]);
    if (job.islandId !== null) this.attempts.add([job.state, code]);
    const cargo = this.#nameOf(job);
    this.cargos.add([cargo, job.state]);
    if (job.startedAtMs !== null) this.run.observe([cargo], this.#sinceS(job.startedAtMs));
    this.promptTokens.add([], usage?.promptTokens ?? 0);
    if (chargeMicro === 0) return;
    this.credits.add(["charged"], chargeMicro / MICRO_PER_CREDIT);
    for (const { kind, micro } of postings) {
      if (kind === "earning") this.credits.add(["earned"], micro / MICRO_PER_CREDIT);
      if (kind === "fee") this.credits.add(["fee"], micro / MICRO_PER_CREDIT);
    }
  }

  /** Private Cargos are their accounts' business, and anybody can make many. */
  #nameOf({ cargo, slug }: ActiveJob): string {
    return cargo === null || cargo.privateTo !== undefined ? OTHER : this.#cargoNames.of(slug);
  }

  #sinceS(ms: number): number {
    return (this.#clock.now() - ms) / MS_PER_S;
  }
}
