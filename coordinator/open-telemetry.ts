import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";
import { logJobEnds } from "./metrics/job-log.ts";
import { openMetrics, type MeasuredParts } from "./metrics/metrics.ts";
import { openTracing, type TracingDeps } from "./tracing/open-tracing.ts";

/** What operators see of the coordinator: metrics, a line for each job, and traces if they are switched on. */
export async function openTelemetry(
  parts: MeasuredParts & {
    readonly jobs: TracingDeps["jobs"];
    readonly clock: Clock;
    readonly config: Pick<CoordinatorConfig, "tracesUrl" | "tracesShare" | "peerUrl" | "host" | "port">;
    readonly log: Logger;
  },
) {
  const { config, version, jobs, clock, log } = parts;
  logJobEnds(jobs, clock, log);
  const metrics = openMetrics(parts);
  const { tracesUrl: url, tracesShare: share } = config;
  if (url === null) return { metrics, tracing: null };
  const instance = config.peerUrl ?? `${config.host}:${config.port}`;
  return { metrics, tracing: await openTracing({ url, share, version, instance }, parts) };
}
