import { Counter, Gauge, Registry } from "prom-client";
import { JOB_STATES, type JobState } from "../../shared/job-state.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";

export interface MetricsDeps {
  readonly jobs: Pick<JobRegistry, "list" | "subscribe">;
  readonly islands: Pick<IslandRegistry, "connectedCount">;
  readonly scheduler: Pick<Scheduler, "quarantinedCount">;
  readonly version: string;
}

const UNFINISHED: readonly JobState[] = ["pending", "queued", "running"];
const ENDED = JOB_STATES.filter((state) => !UNFINISHED.includes(state));

/** Figures for Prometheus: totals only, never of one account or one Island. Source: DESIGN §4, row "Also served". */
export class Metrics {
  readonly #registry = new Registry();
  readonly contentType: string = this.#registry.contentType;

  constructor({ jobs, islands, scheduler, version }: MetricsDeps) {
    const registers = [this.#registry];
    new Gauge({ name: "atoll_info", help: "Version of the coordinator", labelNames: ["version"], registers }).set(
      { version },
      1,
    );
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
    for (const gauge of [unfinished, connected, quarantined]) this.#registry.registerMetric(gauge);
    const ended = new Counter({
      name: "atoll_jobs_ended_total",
      help: "Jobs that ended since the coordinator started",
      labelNames: ["state"],
      registers,
    });
    const tokens = new Counter({
      name: "atoll_tokens_delivered_total",
      help: "Model tokens of jobs that ended since the coordinator started",
      registers,
    });
    for (const state of ENDED) ended.inc({ state }, 0);
    jobs.subscribe((event) => {
      if (event.type !== "job_ended") return;
      ended.inc({ state: event.job.state });
      tokens.inc(event.job.feed.tokens);
    });
  }

  /** In Prometheus' text format. */
  read(): Promise<string> {
    return this.#registry.metrics();
  }
}
