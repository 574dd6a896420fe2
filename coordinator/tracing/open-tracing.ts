import type { Clock } from "../../shared/clock.ts";
import { CloseLimit } from "../../shared/async/close-limit.ts";
import type { Logger } from "../../shared/logger.ts";
import { JobTraces, type JobTracesDeps } from "./job-traces.ts";
import { TraceFaults } from "./trace-faults.ts";
import type { TraceHeaders } from "./trace-headers.ts";

export interface TracingOptions {
  /** Of a collector that takes OTLP over HTTP, without `/v1/traces`. */
  readonly url: string;
  /** Share of the jobs that are traced, 0 to 1. Where the client sent a `traceparent`, its choice counts. */
  readonly share: number;
  readonly version: string;
  /** Tells coordinators apart. */
  readonly instance: string;
}

export interface TracingDeps {
  readonly jobs: JobTracesDeps["jobs"];
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

export interface Tracing {
  /** Runs `handle` so that the jobs that it makes belong to the trace of the headers. */
  within<T>(headers: TraceHeaders, handle: () => T): T;
  /** Sends what is left. */
  close(): Promise<void>;
}

const TRACES_PATH = "/v1/traces";
const MAX_SEND_MS = 10_000;
/** How long a stop waits for a collector that does not answer. */
const MAX_CLOSE_MS = 2_000;

/** Makes traces of jobs, and sends them. The packages of OpenTelemetry are loaded here, and nowhere where traces are not made. */
export async function openTracing(options: TracingOptions, { jobs, clock, log }: TracingDeps): Promise<Tracing> {
  const [api, { AsyncLocalStorageContextManager }, core, otlp, { resourceFromAttributes }, sdk] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/context-async-hooks"),
    import("@opentelemetry/core"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/sdk-trace"),
  ]);
  const faults = new TraceFaults(log, clock);
  const warn = (message: string): void => faults.note(message);
  const ignore = (): void => undefined;
  api.diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new otlp.OTLPTraceExporter({ url: `${options.url}${TRACES_PATH}`, timeoutMillis: MAX_SEND_MS });
  const provider = new sdk.TracerProvider({
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(options.share) }),
    resource: resourceFromAttributes({
      "service.name": "atoll-coordinator",
      "service.version": options.version,
      "service.instance.id": options.instance,
    }),
    // Bounded: what it cannot send in time it drops.
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, exportTimeoutMillis: MAX_SEND_MS })],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator = new core.W3CTraceContextPropagator();
  const tracer = provider.getTracer("atoll", options.version);
  const contextNow = () => contexts.active();
  const contextFrom = (headers: TraceHeaders) =>
    propagator.extract(api.ROOT_CONTEXT, headers, api.defaultTextMapGetter);
  const contextOf = (traceparent: string) => contextFrom({ traceparent });
  void new JobTraces({ api, tracer, contextNow, contextOf, jobs, clock });
  return {
    within(headers, handle) {
      return contexts.with(contextFrom(headers), handle);
    },
    async close() {
      const limit = new CloseLimit(clock, MAX_CLOSE_MS);
      await limit.within(provider.shutdown().catch((error: unknown) => warn(String(error))));
      limit.end();
      contexts.disable();
    },
  };
}
