import type { Clock } from "../../shared/clock.ts";
import { counter, counterOf, gauge, histogram, type Metric, OTHER, scraperOf } from "../../shared/metrics.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import type { BusError } from "../bus/bus.ts";
import type { FrameCounts } from "../islands/session/session.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { AskElsewhere } from "../scheduler/explain.ts";
import type { TakenOver } from "../store/cluster-store.ts";
import type { FileUsage } from "../store/files/files.ts";
import type { Store } from "../store/store.ts";
import { measureSpeeds } from "./cargo-speeds.ts";
import { measureJobs, UNFINISHED } from "./job-metrics.ts";

interface Counting {
  readonly metrics: readonly Metric[];
}

export interface MeasuredParts {
  readonly jobs: Pick<JobRegistry, "list" | "relayedTokens" | "subscribe">;
  readonly islands: Pick<IslandRegistry, "connectedCount" | "connected">;
  readonly scheduler: Pick<Scheduler, "quarantinedCount" | "waitsByReason">;
  readonly work: { readonly cachedTokens: number };
  readonly store: Pick<Store, "commits" | "queued" | "readOnlyReason"> & {
    readonly cluster: Pick<Store["cluster"], "isShared">;
  };
  readonly gateway: Counting & { readonly frames: FrameCounts };
  readonly auditor: Counting;
  readonly webhooks: Counting & { readonly pendingCount: number };
  readonly files: Counting & { kept(): Promise<FileUsage> };
  readonly fileBatches: Counting & { readonly runningCount: number; readonly linesInFlight: number };
  readonly seen: { readonly elsewhere: AskElsewhere };
  readonly member: { readonly counts: TakenOver & { readonly stolen: number; readonly handedOver: number } };
  readonly peers: { readonly failed: Readonly<Record<BusError["kind"], number>> };
  readonly clock: Pick<Clock, "now">;
  readonly version: string;
}

export type Metrics = ReturnType<typeof openMetrics>;

/** Opens the metrics for Prometheus: totals only, never of one account or one Island. Source: decision 0038. */
export function openMetrics(parts: MeasuredParts) {
  const http = measureHttp();
  const metrics = [
    gauge("atoll_info", "Version of the coordinator, as a label; always 1", ["version"], () => [[parts.version, 1]]),
    ...measureJobs(parts),
    ...jobMetrics(parts),
    ...islandMetrics(parts),
    ...storageMetrics(parts),
    ...http.metrics,
    ...parts.gateway.metrics,
    ...parts.auditor.metrics,
    ...parts.webhooks.metrics,
    ...parts.files.metrics,
    ...parts.fileBatches.metrics,
    ...clusterMetrics(parts),
  ];
  return {
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    http,
    speedOf: measureSpeeds(parts),
    read: scraperOf(metrics, () => import("prom-client")),
    /** All metrics except those of the process. */
    metrics,
  };
}

function jobMetrics({ jobs, work, scheduler, seen, webhooks, fileBatches }: MeasuredParts): Metric[] {
  return [
    gauge("atoll_jobs_unfinished", "Jobs that have not ended, by state", ["state"], () => {
      const counts = new Map(UNFINISHED.map((state) => [state, 0]));
      for (const { state } of jobs.list()) if (counts.has(state)) counts.set(state, (counts.get(state) ?? 0) + 1);
      return counts;
    }),
    gauge(
      "atoll_jobs_waiting",
      "Jobs that wait for an Island, by the `reason` under `waiting` in GET /jobs/{id}; `account_limit` counts batch jobs over their account's job quota",
      ["reason"],
      () => {
        let parked = 0;
        for (const { state, holdsQuota } of jobs.list()) if (state === "pending" && !holdsQuota) parked += 1;
        const byReason = scheduler.waitsByReason(seen.elsewhere);
        return [...byReason, ["account_limit", parked]];
      },
    ),
    counterOf("atoll_tokens_relayed_total", "Model tokens relayed from Islands, counted as they arrive", [], () => [
      [jobs.relayedTokens],
    ]),
    counterOf(
      "atoll_prompt_tokens_cached_total",
      "Prompt tokens of completed jobs that Islands had in their caches; for an agent that does not report them, as expected",
      [],
      () => [[work.cachedTokens]],
    ),
    gauge("atoll_webhooks_pending", "Webhooks that still have to be delivered", [], () => [[webhooks.pendingCount]]),
    gauge("atoll_file_batches_running", "File batches that this coordinator runs", [], () => [
      [fileBatches.runningCount],
    ]),
    gauge("atoll_file_batch_lines_running", "Lines of running file batches that wait for their jobs", [], () => [
      [fileBatches.linesInFlight],
    ]),
  ];
}

function islandMetrics({ islands, scheduler, gateway }: MeasuredParts): Metric[] {
  return [
    gauge("atoll_islands_connected", "Islands with an open session to this coordinator", [], () => [
      [islands.connectedCount],
    ]),
    gauge(
      "atoll_islands_quarantined",
      "Connected Islands in quarantine: after several failures in a row they get no jobs, or one at a time as a test",
      [],
      () => [[scheduler.quarantinedCount]],
    ),
    gauge("atoll_islands_draining", "Connected Islands that take no new jobs", [], () => [
      [[...islands.connected()].filter(({ facts }) => facts.draining).length],
    ]),
    gauge(
      "atoll_islands",
      "Connected Islands by runtime; an Island with several runtimes counts once for each",
      ["runtime"],
      () => {
        const counts = new Map<string, number>();
        for (const { facts } of islands.connected())
          for (const runtime of facts.runtimes) counts.set(runtime, (counts.get(runtime) ?? 0) + 1);
        return counts;
      },
    ),
    gauge(
      "atoll_slots",
      "Slots of connected Islands: `busy`, or `free` if the Island takes new jobs",
      ["state"],
      () => {
        const slots = { busy: 0, free: 0 };
        for (const { island, facts } of islands.connected()) {
          slots.busy += island.slotsInUse;
          if (!facts.draining) slots.free += Math.max(0, facts.slots - island.slotsInUse);
        }
        return Object.entries(slots);
      },
    ),
    counterOf(
      "atoll_frames_total",
      "Frames of the Island protocol, `received` and `sent`, by type",
      ["direction", "type"],
      () =>
        (["received", "sent"] as const).flatMap((direction) =>
          Object.entries(gateway.frames[direction]).map(([type, count]) => [direction, type, count] as const),
        ),
    ),
  ];
}

function storageMetrics({ store, files }: MeasuredParts): Metric[] {
  return [
    counterOf("atoll_storage_commits_total", "Transactions that the store committed", [], () => [[store.commits]]),
    gauge("atoll_storage_queue", "Writes that wait to be committed", [], () => [[store.queued]]),
    gauge("atoll_storage_read_only", "1 while the store is read-only and refuses new work", [], () => [
      [store.readOnlyReason === null ? 0 : 1],
    ]),
    gauge("atoll_files", "Files of all accounts of the network; at most a minute old", [], async () => [
      [(await files.kept()).files],
    ]),
    gauge("atoll_file_bytes", "Size of all file contents on disk; identical contents count once", [], async () => [
      [(await files.kept()).bytes],
    ]),
  ];
}

function clusterMetrics({ store, member, peers, jobs }: MeasuredParts): Metric[] {
  if (!store.cluster.isShared) return [];
  let movedAway = 0;
  jobs.subscribe(({ type }) => {
    if (type === "job_dropped") movedAway += 1;
  });
  return [
    counterOf(
      "atoll_jobs_moved_here_total",
      "Unfinished jobs that came from other coordinators: `stolen` (capacity here), `handed_over` (orderly stop), `adopted` (owner died), `claimed` (their Island moved here)",
      ["how"],
      () => {
        const { stolen, handedOver, adopted, claimed } = member.counts;
        return Object.entries({ stolen, handed_over: handedOver, adopted, claimed });
      },
    ),
    counterOf("atoll_jobs_moved_away_total", "Unfinished jobs that moved to other coordinators", [], () => [
      [movedAway],
    ]),
    counterOf(
      "atoll_coordinators_taken_over_total",
      "Dead coordinators whose expired lease this coordinator removed",
      [],
      () => [[member.counts.reaped]],
    ),
    counterOf(
      "atoll_peer_requests_failed_total",
      "Requests to other coordinators that failed: `unreachable`, `timeout`, `refused`",
      ["reason"],
      () => Object.entries(peers.failed),
    ),
  ];
}

/** A request whose response is complete. */
interface CompletedRequest {
  readonly method: string;
  /** Pattern of the matching route, or "none"; never the path of the request. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** Whether the response was a stream, whose duration is not a latency. */
  readonly isStream: boolean;
}

const MS_PER_S = 1_000;
const LATENCY_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** HTTP methods with their own label; clients may send any other. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function measureHttp() {
  const requests = counter(
    "atoll_http_requests_total",
    "HTTP requests by method, route pattern and status; route is `none` if no route matches",
    ["method", "route", "status"],
  );
  const refusals = counter("atoll_http_refusals_total", "HTTP responses with an error, by error code", ["code"]);
  const latency = histogram(
    "atoll_http_request_seconds",
    "Time to the end of the response, without streams; long polls and chats include their wait",
    LATENCY_BOUNDS_S,
    ["method", "route"],
  );
  const openStreams = (): [number][] => [[http.openStreams]];
  const http = {
    /** Number of open streams, and of large responses that clients have not read completely. */
    openStreams: 0,
    noteResponse({ method, route, status, durationMs, isStream }: CompletedRequest): void {
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
        "Open streams, and large responses that clients have not read to the end",
        [],
        openStreams,
      ),
    ],
  };
  return http;
}
