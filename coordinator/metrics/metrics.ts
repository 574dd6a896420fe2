import type { Registry } from "prom-client";
import { addProcessMetrics, counterOf, histogramOf, metricOf } from "../../shared/prometheus.ts";
import { Tally } from "../../shared/tally.ts";
import type { FileFigures } from "../files/file-figures.ts";
import type { UploadFigures } from "../files/upload-figures.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { WebhookFigures } from "../webhooks/webhook-figures.ts";
import { CargoSpeeds } from "./cargo-speeds.ts";
import { clusterMetrics, type ClusterFigures } from "./cluster-metrics.ts";
import { fileReadings, type FileReadingsDeps } from "./file-readings.ts";
import { HttpFigures } from "./http-figures.ts";
import { JobFigures, type JobFiguresDeps } from "./job-figures.ts";
import { ENDED, readingsOf, type ReadingsDeps } from "./readings.ts";

export interface MetricsDeps extends Omit<ReadingsDeps, "jobs" | "webhooks" | "member">, JobFiguresDeps {
  readonly jobs: ReadingsDeps["jobs"] & Pick<JobRegistry, "subscribe">;
  readonly webhooks: ReadingsDeps["webhooks"] & { readonly figures: WebhookFigures };
  readonly member: (NonNullable<ReadingsDeps["member"]> & ClusterFigures["member"]) | null;
  readonly peers: ClusterFigures["peers"];
  readonly files: FileReadingsDeps["files"] & {
    readonly figures: Pick<FileFigures, "refusals">;
    readonly uploads: { readonly figures: UploadFigures };
  };
  readonly fileBatches: FileReadingsDeps["fileBatches"] & {
    readonly figures: { readonly batches: Tally; readonly lines: Tally };
  };
}

/**
 * Figures for Prometheus: totals only, never of one account or one Island. Source: DESIGN §4, row "Metrics". They are gathered as
 * plain numbers; the library that writes them is loaded when they are first asked for, as it is a tenth of all modules of a start.
 */
export class Metrics {
  readonly contentType: string = "text/plain; version=0.0.4; charset=utf-8";
  /** The HTTP API counts here. */
  readonly http = new HttpFigures();
  /** For clients, in the API. */
  readonly speeds: CargoSpeeds;
  readonly #deps: MetricsDeps;
  readonly #jobs: JobFigures;
  readonly #ended = new Tally({
    name: "atoll_jobs_ended_total",
    help: "Jobs that ended since the coordinator started",
    labelNames: ["state"],
  });
  readonly #tokens = new Tally({
    name: "atoll_tokens_delivered_total",
    help: "Model tokens of jobs that ended since the coordinator started",
    labelNames: [],
  });
  #movedAway = 0;
  #registry: Promise<Registry> | null = null;

  constructor(deps: MetricsDeps) {
    this.#deps = deps;
    this.#jobs = new JobFigures(deps);
    this.speeds = new CargoSpeeds(deps);
    for (const state of ENDED) this.#ended.add([state], 0);
    deps.jobs.subscribe((event) => {
      if (event.type === "job_dropped") this.#movedAway += 1;
      if (event.type !== "job_ended") return;
      const { state, feed } = event.job;
      this.#ended.add([state]);
      this.#tokens.add([], feed.tokens);
    });
  }

  /** In Prometheus' text format. */
  async read(): Promise<string> {
    this.#registry ??= this.#register();
    return (await this.#registry).metrics();
  }

  async #register(): Promise<Registry> {
    const library = await import("prom-client");
    const { member, peers, webhooks, gateway, files, fileBatches } = this.#deps;
    const registry = new library.Registry();
    const { http } = this;
    const streams = () => [[[], http.openStreams]] as const;
    const help = "Streams that clients read now, with large answers that they have not read yet";
    const openStreams = { type: "gauge", name: "atoll_streams", help, labelNames: [], read: streams } as const;
    const tallies = [
      this.#ended,
      this.#tokens,
      ...this.#jobs.tallies,
      http.requests,
      http.refusals,
      gateway.refusals,
      webhooks.figures.tries,
      webhooks.figures.gaveUp,
      files.figures.refusals,
      fileBatches.figures.batches,
      fileBatches.figures.lines,
      files.uploads.figures.uploads,
      files.uploads.figures.parts,
      files.uploads.figures.bytes,
    ];
    const distributions = [...this.#jobs.distributions, http.latency, webhooks.figures.delivery];
    const metrics = [
      ...[...readingsOf(this.#deps), ...fileReadings(this.#deps), openStreams].map((reading) =>
        metricOf(library, reading),
      ),
      ...tallies.map((tally) => counterOf(library, tally)),
      ...distributions.map((distribution) => histogramOf(distribution)),
      ...(member === null ? [] : clusterMetrics(library, { member, peers, movedAway: () => this.#movedAway })),
    ];
    for (const metric of metrics) registry.registerMetric(metric);
    addProcessMetrics(library, registry);
    return registry;
  }
}
