import type { IncomingHttpHeaders } from "node:http";

/** The headers of a request by which a client's trace goes on here. Source: W3C Trace Context. */
export interface TraceHeaders {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** As many as OpenTelemetry sends on; it keeps what it was given, though, as long as the job is unfinished. */
const MAX_STATE_CHARS = 512;

/** A `tracestate` that is too long is dropped: the trace goes on without it. */
export function traceHeadersOf({ traceparent, tracestate }: IncomingHttpHeaders): TraceHeaders {
  const single = (value: string | string[] | undefined) => (typeof value === "string" ? value : undefined);
  const state = single(tracestate);
  return { traceparent: single(traceparent), tracestate: (state?.length ?? 0) > MAX_STATE_CHARS ? undefined : state };
}
