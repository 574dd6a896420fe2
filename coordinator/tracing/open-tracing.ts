import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../shared/clock.ts";
import { CloseLimit } from "../../shared/async/close-limit.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Env } from "../env.ts";
import { type TracedJobs, traceJobs } from "./job-traces.ts";

const TRACES_PATH = "/v1/traces";
/** Time limit for sending spans. */
const MAX_SEND_MS = 10_000;
/** Maximum time for which a stop waits for an unresponsive collector. */
const MAX_CLOSE_MS = 2_000;
/** Minimum time between two log lines, because an unreachable collector causes several errors per minute. */
const GAP_MS = 60_000;
const MAX_CHARS = 300;

export type Tracing = Awaited<ReturnType<typeof openTracing>>;

/**
 * Opens tracing of jobs, which creates traces and sends them. Loads the packages of OpenTelemetry.
 * @param url address of an OTLP/HTTP collector, without `/v1/traces`
 */
export async function openTracing(
  { config, version, clock, log }: Env<"tracesShare" | "peerUrl" | "host" | "port">,
  url: string,
  jobs: TracedJobs,
) {
  const [api, { AsyncLocalStorageContextManager }, core, otlp, { resourceFromAttributes }, sdk] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/context-async-hooks"),
    import("@opentelemetry/core"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/sdk-trace"),
  ]);
  const warn = logTraceFaults(log, clock);
  const ignore = (): void => undefined;
  api.diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new otlp.OTLPTraceExporter({ url: `${url}${TRACES_PATH}`, timeoutMillis: MAX_SEND_MS });
  const provider = new sdk.TracerProvider({
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(config.tracesShare) }),
    resource: resourceFromAttributes({
      "service.name": "atoll-coordinator",
      "service.version": version,
      "service.instance.id": config.peerUrl ?? `${config.host}:${config.port}`,
    }),
    // The queue is bounded: spans that cannot be sent in time are dropped.
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, exportTimeoutMillis: MAX_SEND_MS })],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator = new core.W3CTraceContextPropagator();
  const tracer = provider.getTracer("atoll", version);
  const contextFrom = (headers: TraceHeaders) =>
    propagator.extract(api.ROOT_CONTEXT, headers, api.defaultTextMapGetter);
  traceJobs(
    api,
    tracer,
    () => contexts.active(),
    (traceparent) => contextFrom({ traceparent }),
    jobs,
    clock,
  );
  return {
    /** Runs `handle`. Jobs that it submits belong to the trace that the headers name. */
    within: <T>(headers: TraceHeaders, handle: () => T): T => contexts.with(contextFrom(headers), handle),
    async close(): Promise<void> {
      const limit = new CloseLimit(clock, MAX_CLOSE_MS);
      await limit.within(provider.shutdown().catch((error: unknown) => warn(String(error))));
      limit.end();
      contexts.disable();
    },
  };
}

/** Returns a function that logs OpenTelemetry's errors about unsent traces, at most one line a minute. */
export function logTraceFaults(
  log: Pick<Logger, "warn">,
  clock: Pick<Clock, "monotonicMs">,
): (message: string) => void {
  let nextMs = -Infinity;
  let suppressed = 0;
  return (message) => {
    const nowMs = clock.monotonicMs();
    if (nowMs < nextMs) {
      suppressed += 1;
      return;
    }
    nextMs = nowMs + GAP_MS;
    log.warn({ reason: reasonOf(message).slice(0, MAX_CHARS), suppressed }, "Could not send traces");
    suppressed = 0;
  };
}

/** Returns the message of an error, which OpenTelemetry passes as JSON with its stack. */
function reasonOf(message: string): string {
  try {
    const error: unknown = JSON.parse(message);
    if (typeof error === "object" && error !== null && "message" in error) return String(error.message);
  } catch {
    // The message is plain text.
  }
  return message;
}

/** Request headers that name a client's trace. Source: W3C Trace Context. */
interface TraceHeaders {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** Maximum length of `tracestate`, equal to OpenTelemetry's limit for sending. */
const MAX_STATE_CHARS = 512;

/** Returns the trace headers of a request, without a `tracestate` that is too long. */
export function traceHeadersOf({ traceparent, tracestate }: IncomingHttpHeaders): TraceHeaders {
  const single = (value: string | string[] | undefined) => (typeof value === "string" ? value : undefined);
  const state = single(tracestate);
  return { traceparent: single(traceparent), tracestate: (state?.length ?? 0) > MAX_STATE_CHARS ? undefined : state };
}
