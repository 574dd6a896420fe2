import type { ErrorCode } from "../../shared/errors.ts";
import { counter, gauge, histogram, OTHER } from "../../shared/metrics.ts";

/** A request whose answer is over. */
interface AnsweredRequest {
  readonly method: string;
  /** The pattern of its path, or "none": never the path itself. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** It lasted as long as its client and its job: no latency. */
  readonly isStream: boolean;
}

const MS_PER_S = 1_000;
const LATENCY_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Clients may send others. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** What the HTTP API is measured by. */
export function measureHttp() {
  const requests = counter("atoll_http_requests_total", "Requests that were answered, by method, route and status", [
    "method",
    "route",
    "status",
  ]);
  const refusals = counter("atoll_http_refusals_total", "Requests that were answered with an error, by its code", [
    "code",
  ]);
  const latency = histogram(
    "atoll_http_request_seconds",
    "Time to answer a request, by method and route, without streams",
    LATENCY_BOUNDS_S,
    ["method", "route"],
  );
  const openStreams = (): [number][] => [[http.openStreams]];
  const http = {
    /** Streams that clients read now, with large answers that they have not read yet. */
    openStreams: 0,
    noteAnswer({ method, route, status, durationMs, isStream }: AnsweredRequest): void {
      const verb = METHODS.has(method) ? method : OTHER;
      requests.add([verb, route, String(status)]);
      if (!isStream) latency.observe([verb, route], durationMs / MS_PER_S);
    },
    noteRefusal(code: ErrorCode): void {
      refusals.add([code]);
    },
    metrics: [
      requests,
      refusals,
      latency,
      gauge(
        "atoll_streams",
        "Streams that clients read now, with large answers that they have not read yet",
        [],
        openStreams,
      ),
    ],
  };
  return http;
}
