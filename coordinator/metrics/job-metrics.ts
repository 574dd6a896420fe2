import type { Clock } from "../../shared/clock.ts";
import { JOB_STATES, type JobState } from "../../shared/job-state.ts";
import { counter, FirstNames, histogram, OTHER } from "../../shared/metrics.ts";
import type { Logger } from "../../shared/logger.ts";
import { creditsFromMicro, MICRO_PER_CREDIT } from "../credits/micro-credits.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobEnding } from "../store/jobs/job-store.ts";

/** Maximum number of Cargos with their own rows; all others share a row. */
export const MAX_CARGO_NAMES = 50;
export const UNFINISHED: readonly JobState[] = ["pending", "queued", "running"];
const MS_PER_S = 1_000;
const WAIT_BOUNDS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200];
const FIRST_OUTPUT_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];
const RUN_BOUNDS_S = [0.01, 0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600];

/** Measures jobs from the events of their registry, which costs a few additions per job and nothing per token. */
export function measureJobs({ jobs, clock }: { jobs: Pick<JobRegistry, "subscribe">; clock: Pick<Clock, "now"> }) {
  const ended = counter(
    "atoll_jobs_ended_total",
    "Jobs that ended: `completed`, `failed`, `cancelled` or `timeout`",
    ["state"],
    JOB_STATES.filter((state) => !UNFINISHED.includes(state)),
  );
  const outcomes = counter(
    "atoll_job_outcomes_total",
    "Jobs that ended, by state and error code; `none` without an error",
    ["state", "code"],
  );
  const cargos = counter(
    "atoll_cargo_jobs_ended_total",
    "Jobs that ended, by Cargo and state; private Cargos, and Cargos after the first 50, count as `other`",
    ["cargo", "state"],
  );
  const begun = counter("atoll_attempts_begun_total", "Attempts that were assigned to Islands");
  const attempts = counter(
    "atoll_attempts_ended_total",
    "Attempts that ended: with the job (outcome is its state), or `refused`, `failed` or `lost` and followed by another attempt",
    ["outcome", "code"],
  );
  const credits = counter(
    "atoll_credits_total",
    "Credits of jobs that ended: `charged` to clients, split into `earned` by hosts and `fee` of the network",
    ["kind"],
    ["charged", "earned", "fee"],
  );
  const tokens = counter("atoll_tokens_delivered_total", "Completion tokens of jobs that ended");
  const promptTokens = counter("atoll_prompt_tokens_total", "Prompt tokens of jobs that ended");
  const wait = histogram(
    "atoll_job_assign_seconds",
    "Time from submission to the first Island; for batch jobs from the moment they fit their account's job quota",
    WAIT_BOUNDS_S,
    ["class"],
  );
  const firstOutput = histogram(
    "atoll_job_first_output_seconds",
    "Time from submission, as in atoll_job_assign_seconds, to the first token or image",
    FIRST_OUTPUT_BOUNDS_S,
    ["class"],
  );
  const run = histogram(
    "atoll_job_run_seconds",
    "Run time of the last attempt of jobs that ended, by Cargo",
    RUN_BOUNDS_S,
    ["cargo"],
  );
  const cargoNames = new FirstNames(MAX_CARGO_NAMES);
  const sinceS = (ms: number): number => (clock.now() - ms) / MS_PER_S;
  /**
   * Returns the label of the job's Cargo. Private Cargos share a label, because they are confidential and may be many.
   */
  const nameOf = ({ cargo, slug }: ActiveJob): string =>
    cargo === null || cargo.privateTo !== undefined ? OTHER : cargoNames.of(slug);

  function end(job: ActiveJob, { error, usage, chargeMicro, postings }: JobEnding): void {
    const { state, feed } = job;
    const code = error?.code ?? "none";
    ended.add([state]);
    outcomes.add([state, code]);
    if (job.islandId !== null) attempts.add([state, code]);
    const cargo = nameOf(job);
    cargos.add([cargo, state]);
    if (job.startedAtMs !== null) run.observe([cargo], sinceS(job.startedAtMs));
    tokens.add([], feed.tokens);
    promptTokens.add([], usage?.promptTokens ?? 0);
    if (chargeMicro === 0) return;
    credits.add(["charged"], chargeMicro / MICRO_PER_CREDIT);
    for (const { kind, micro } of postings) {
      if (kind === "earning") credits.add(["earned"], micro / MICRO_PER_CREDIT);
      if (kind === "fee") credits.add(["fee"], micro / MICRO_PER_CREDIT);
    }
  }

  jobs.subscribe((event) => {
    if (event.type === "attempt_begun") {
      begun.add([]);
      if (event.job.attempt === 1) wait.observe([event.job.jobClass], sinceS(event.job.waitsSinceMs));
    } else if (event.type === "first_output") {
      firstOutput.observe([event.job.jobClass], sinceS(event.job.waitsSinceMs));
    } else if (event.type === "attempt_refused") attempts.add(["refused", event.error.code]);
    else if (event.type === "attempt_failed") attempts.add([event.cause, event.error.code]);
    else if (event.type === "job_ended") end(event.job, event.ending);
  });
  return [ended, outcomes, cargos, begun, attempts, credits, tokens, promptTokens, wait, firstOutput, run];
}

/** Logs a line for each job that ends: account, Island, durations and result, never input or output. */
export function logJobEnds(jobs: Pick<JobRegistry, "subscribe">, clock: Pick<Clock, "now">, log: Pick<Logger, "info">) {
  jobs.subscribe((event) => {
    if (event.type !== "job_ended") return;
    const { job, ending } = event;
    const { error, usage, chargeMicro } = ending;
    const nowMs = clock.now();
    const facts = {
      job_id: job.id,
      account_id: job.accountId,
      island_id: job.islandId,
      ...(job.batchId === null ? {} : { batch_id: job.batchId }),
      cargo: job.slug,
      state: job.state,
      ...(error === null ? {} : { code: error.code }),
      attempts: job.attempt - job.refusals,
      refusals: job.refusals,
      total_ms: Math.max(0, nowMs - job.waitsSinceMs),
      run_ms: job.startedAtMs === null ? null : Math.max(0, nowMs - job.startedAtMs),
      prompt_tokens: usage?.promptTokens ?? 0,
      completion_tokens: usage?.completionTokens ?? 0,
      credits: creditsFromMicro(chargeMicro),
    };
    log.info(facts, "Job ended");
  });
}
