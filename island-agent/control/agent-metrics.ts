import type { Registry } from "prom-client";
import { Distribution } from "../../shared/distribution.ts";
import { addProcessMetrics, histogramOf, metricOf, type Reading } from "../../shared/prometheus.ts";
import { FirstNames } from "../../shared/tally.ts";
import type { AgentStatus } from "../execution/island-reports.ts";
import type { EndedJob } from "../execution/job-history.ts";

/** Cargos that have rows of their own. */
const MAX_CARGO_NAMES = 50;
const MS_PER_S = 1_000;
const RUN_BOUNDS_S = [0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600];

export interface AgentMetricsDeps {
  readonly status: () => AgentStatus;
  readonly version: string;
}

/** Figures of one Island for its owner's Prometheus. The library that writes them is loaded when they are first asked for. */
export class AgentMetrics {
  readonly #deps: AgentMetricsDeps;
  readonly #names = new FirstNames(MAX_CARGO_NAMES);
  readonly #runs = new Distribution(
    {
      name: "atoll_island_run_seconds",
      help: "From assignment to end of the jobs that ran here, by Cargo; those after the first 50 are other",
      labelNames: ["cargo"],
    },
    RUN_BOUNDS_S,
  );
  #registry: Promise<Registry> | null = null;

  constructor(deps: AgentMetricsDeps) {
    this.#deps = deps;
  }

  noteRun({ slug, runMs }: Pick<EndedJob, "slug" | "runMs">): void {
    this.#runs.observe([this.#names.of(slug)], runMs / MS_PER_S);
  }

  /** In Prometheus' text format. */
  async read(): Promise<string> {
    this.#registry ??= this.#register();
    return (await this.#registry).metrics();
  }

  async #register(): Promise<Registry> {
    const library = await import("prom-client");
    const registry = new library.Registry();
    for (const reading of readingsOf(this.#deps)) registry.registerMetric(metricOf(library, reading));
    registry.registerMetric(histogramOf(this.#runs));
    addProcessMetrics(library, registry);
    return registry;
  }
}

function readingsOf({ status, version }: AgentMetricsDeps): readonly Reading[] {
  return [
    gauge("info", "Version of the agent", ["version"], () => [[[version], 1]]),
    gauge("connected", "1 while the coordinator can be reached", [], () => flag(status().link === "connected")),
    gauge("accepting", "1 while new jobs are taken", [], () => flag(status().closedBecause === null)),
    gauge("quarantined", "1 while the coordinator gives no jobs, as several in a row failed", [], () =>
      flag(status().quarantine !== null),
    ),
    gauge("slots", "Slots by whether a job has them", ["state"], () => {
      const { slots, running } = status();
      return [
        [["busy"], running.length],
        [["free"], Math.max(0, slots - running.length)],
      ];
    }),
    gauge("loaded_cargos", "Cargos in memory", [], () => [[[], status().loaded.length]]),
    gauge("loaded_bytes", "Memory of the Cargos that are loaded", ["memory"], () => {
      const { loaded } = status();
      return [
        [["ram"], loaded.reduce((sum, { ramBytes }) => sum + ramBytes, 0)],
        [["vram"], loaded.reduce((sum, { vramBytes }) => sum + vramBytes, 0)],
      ];
    }),
    gauge("memory_cap_bytes", "Most memory that all Cargos together may take", ["memory"], () => {
      const { ramBytes, vramBytes } = status().memoryCaps;
      return [[["ram"], ramBytes], ...(vramBytes === null ? [] : [[["vram"], vramBytes] as const])];
    }),
    gauge("gpu_load_ratio", "Load of the busiest graphics card, 0 to 1; no row while it is not known", [], () =>
      known(status().usage?.gpuLoad),
    ),
    gauge("temperature_celsius", "Of the hottest processor or graphics card; no row while it is not known", [], () =>
      known(status().usage?.temperatureC),
    ),
    counter("jobs_total", "Jobs that ended here, by outcome", ["outcome"], () => {
      const { completed, failed, cancelled } = status().counts;
      return Object.entries({ completed, failed, cancelled }).map(([outcome, count]) => [[outcome], count]);
    }),
    counter("tokens_total", "Tokens that were generated here", [], () => [[[], status().counts.tokens]]),
    counter("reconnects_total", "Sessions after the first", [], () => [[[], status().reconnects]]),
  ];
}

type Rows = (readonly [labels: readonly string[], value: number])[];

const known = (value: number | null | undefined): Rows => (typeof value === "number" ? [[[], value]] : []);

const flag = (isSet: boolean): Rows => [[[], isSet ? 1 : 0]];

function gauge(name: string, help: string, labelNames: readonly string[], read: () => Rows): Reading {
  return { type: "gauge", name: `atoll_island_${name}`, help, labelNames, read };
}

function counter(name: string, help: string, labelNames: readonly string[], read: () => Rows): Reading {
  return { type: "counter", name: `atoll_island_${name}`, help, labelNames, read };
}
