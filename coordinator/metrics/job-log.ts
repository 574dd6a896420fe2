import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { creditsFromMicro } from "../credits/micro-credits.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";

/** Logs one line for each job that ends: who, where, how long, and how. Never what was asked or answered. */
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
