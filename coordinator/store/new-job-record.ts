import type { JobRecord, NewJob } from "./job-store.ts";

/** A job right after its submission: equal to what `jobOf` would read. */
export function newJobRecord(job: NewJob): JobRecord {
  const { id, accountId, slug, workloadId, input, jobClass, share, priority, priceMicro } = job;
  const { createdAtMs, waitDeadlineMs, isClientBound, ignoredParameters } = job;
  return {
    id,
    accountId,
    batchId: null,
    slug,
    state: "pending",
    jobClass,
    share,
    priority,
    priceMicro,
    attempt: 0,
    refusals: 0,
    islandId: null,
    createdAtMs,
    startedAtMs: null,
    waitDeadlineMs,
    isClientBound,
    ignoredParameters,
    workloadId,
    input,
    output: undefined,
    usage: null,
    creditsUsedMicro: 0,
    finishReason: null,
    timings: null,
    error: null,
    completedAtMs: null,
    webhookId: job.webhook?.id ?? null,
    inputRemovedAtMs: null,
    outputRemovedAtMs: null,
  };
}
