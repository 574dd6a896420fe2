import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";
import { logJobEnds } from "./metrics/job-log.ts";
import { Metrics, type MetricsDeps } from "./metrics/metrics.ts";
import { openTracing, type Tracing, type TracingDeps } from "./tracing/open-tracing.ts";

export interface OpenTelemetryDeps extends MetricsDeps {
  readonly jobs: MetricsDeps["jobs"] & TracingDeps["jobs"];
  readonly clock: Clock;
  readonly config: Pick<CoordinatorConfig, "tracesUrl" | "tracesShare" | "peerUrl" | "host" | "port">;
  readonly log: Logger;
}

export interface Telemetry {
  readonly metrics: Metrics;
  /** Null where no traces are made. */
  readonly tracing: Tracing | null;
}

/** What operators see of the coordinator: figures, a line for each job, and traces if they are switched on. */
export async function openTelemetry(deps: OpenTelemetryDeps): Promise<Telemetry> {
  const { config, version } = deps;
  logJobEnds(deps);
  const metrics = new Metrics(deps);
  const { tracesUrl: url, tracesShare: share } = config;
  if (url === null) return { metrics, tracing: null };
  const instance = config.peerUrl ?? `${config.host}:${config.port}`;
  return { metrics, tracing: await openTracing({ url, share, version, instance }, deps) };
}
