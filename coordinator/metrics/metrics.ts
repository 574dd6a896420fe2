import type { Metric, Registry } from "prom-client";
import { JOB_STATES, type JobState } from "../../shared/job-state.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Store } from "../store/store.ts";
import { clusterMetrics, type ClusterFigures } from "./cluster-metrics.ts";

export interface MetricsDeps {
  readonly jobs: Pick<JobRegistry, "list" | "subscribe">;
  readonly islands: Pick<IslandRegistry, "connectedCount">;
  readonly scheduler: Pick<Scheduler, "quarantinedCount">;
  readonly store: Pick<Store, "commits">;
  readonly version: string;
  /** Null for a coordinator that is alone. */
  readonly member: ClusterFigures["member"] | null;
  readonly bus: ClusterFigures["bus"];
}

const UNFINISHED: readonly JobState[] = ["pending", "queued", "running"];
const ENDED = JOB_STATES.filter((state) => !UNFINISHED.includes(state));

/**
 * Figures for Prometheus: totals only, never of one account or one Island. Source: DESIGN §4, row "Also served". The library that writes
 * them is loaded when they are first asked for: with what it loads it is a tenth of all modules of a start.
 */
export class Metrics {
  readonly contentType: string = "text/plain; version=0.0.4; charset=utf-8";
  readonly #deps: MetricsDeps;
  readonly #ended = new Map<JobState, number>(ENDED.map((state) => [state, 0]));
  #tokens = 0;
  #movedAway = 0;
  #registry: Promise<Registry> | null = null;

  constructor(deps: MetricsDeps) {
    this.#deps = deps;
    deps.jobs.subscribe((event) => {
      if (event.type === "job_dropped") this.#movedAway += 1;
      if (event.type !== "job_ended") return;
      const { state, feed } = event.job;
      this.#ended.set(state, (this.#ended.get(state) ?? 0) + 1);
      this.#tokens += feed.tokens;
    });
  }

  /** In Prometheus' text format. */
  async read(): Promise<string> {
    this.#registry ??= this.#register();
    return (await this.#registry).metrics();
  }

  async #register(): Promise<Registry> {
    const library = await import("prom-client");
    const { Counter, Gauge, Registry } = library;
    const { jobs, islands, scheduler, store, version, member, bus } = this.#deps;
    const registry = new Registry();
    const info = new Gauge({
      name: "atoll_info",
      help: "Version of the coordinator",
      labelNames: ["version"],
      registers: [],
    });
    info.set({ version }, 1);
    const unfinished = new Gauge({
      name: "atoll_jobs_unfinished",
      help: "Jobs that have not ended",
      labelNames: ["state"],
      registers: [],
      collect() {
        const counts = new Map(UNFINISHED.map((state) => [state, 0]));
        for (const { state } of jobs.list()) counts.set(state, (counts.get(state) ?? 0) + 1);
        for (const state of UNFINISHED) this.set({ state }, counts.get(state) ?? 0);
      },
    });
    const connected = new Gauge({
      name: "atoll_islands_connected",
      help: "Islands with an open session",
      registers: [],
      collect() {
        this.set(islands.connectedCount);
      },
    });
    const quarantined = new Gauge({
      name: "atoll_islands_quarantined",
      help: "Connected Islands that get no or few jobs, because they let down several in a row",
      registers: [],
      collect() {
        this.set(scheduler.quarantinedCount);
      },
    });
    const counted = this.#ended;
    const ended = new Counter({
      name: "atoll_jobs_ended_total",
      help: "Jobs that ended since the coordinator started",
      labelNames: ["state"],
      registers: [],
      collect() {
        this.reset();
        for (const [state, count] of counted) this.inc({ state }, count);
      },
    });
    const tokensNow = (): number => this.#tokens;
    const tokens = new Counter({
      name: "atoll_tokens_delivered_total",
      help: "Model tokens of jobs that ended since the coordinator started",
      registers: [],
      collect() {
        this.reset();
        this.inc(tokensNow());
      },
    });
    const commits = new Counter({
      name: "atoll_storage_commits_total",
      help: "Transactions of jobs and Islands committed since the coordinator started",
      registers: [],
      collect() {
        this.reset();
        this.inc(store.commits);
      },
    });
    const metrics: readonly Metric[] = [info, unfinished, connected, quarantined, ended, tokens, commits];
    const ofCluster = member === null ? [] : clusterMetrics(library, { member, bus, movedAway: () => this.#movedAway });
    for (const metric of [...metrics, ...ofCluster]) registry.registerMetric(metric);
    return registry;
  }
}
