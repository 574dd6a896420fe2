import { Distribution } from "../../shared/distribution.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { Tally } from "../../shared/tally.ts";

/** A request whose answer is over. */
export interface AnsweredRequest {
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
/** Anybody may send others. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** What the HTTP API is measured by. */
export class HttpFigures {
  readonly requests = new Tally({
    name: "atoll_http_requests_total",
    help: "Requests that were answered, by method, route and status",
    labelNames: ["method", "route", "status"],
  });
  readonly refusals = new Tally({
    name: "atoll_http_refusals_total",
    help: "Requests that were answered with an error, by its code",
    labelNames: ["code"],
  });
  readonly latency = new Distribution(
    {
      name: "atoll_http_request_seconds",
      help: "Time to answer a request, by method and route, without streams",
      labelNames: ["method", "route"],
    },
    LATENCY_BOUNDS_S,
  );
  /** Streams that clients read now, with large answers that they have not read yet. */
  openStreams = 0;

  noteAnswer({ method, route, status, durationMs, isStream }: AnsweredRequest): void {
    const verb = METHODS.has(method) ? method : "other";
    this.requests.add([verb, route, String(status)]);
    if (!isStream) this.latency.observe([verb, route], durationMs / MS_PER_S);
  }

  noteRefusal(code: ErrorCode): void {
    this.refusals.add([code]);
  }
}
