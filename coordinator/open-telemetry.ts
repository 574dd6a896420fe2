import type { Env } from "./env.ts";
import { logJobEnds } from "./metrics/job-log.ts";
import { openMetrics, type MeasuredParts } from "./metrics/metrics.ts";
import type { TracedJobs } from "./tracing/job-traces.ts";
import { openTracing } from "./tracing/open-tracing.ts";

/** What operators see of the coordinator: metrics, a line for each job, and traces if they are switched on. */
export async function openTelemetry(
  parts: MeasuredParts & Env<"tracesUrl" | "tracesShare" | "peerUrl" | "host" | "port"> & { readonly jobs: TracedJobs },
) {
  const { config, jobs, clock, log } = parts;
  logJobEnds(jobs, clock, log);
  const metrics = openMetrics(parts);
  const { tracesUrl } = config;
  return { metrics, tracing: tracesUrl === null ? null : await openTracing(parts, tracesUrl, jobs) };
}
