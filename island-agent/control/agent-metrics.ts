import { counterOf, FirstNames, gauge, histogram, scraperOf, type Metric } from "../../shared/metrics.ts";
import type { AgentStatus } from "../execution/island-reports.ts";
import type { EndedJob } from "../execution/job-history.ts";

/** Cargos that have rows of their own. */
const MAX_CARGO_NAMES = 50;
const MS_PER_S = 1_000;
const RUN_BOUNDS_S = [0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600];

export type AgentMetrics = ReturnType<typeof agentMetrics>;

/** Metrics of one Island for its owner's Prometheus. */
export function agentMetrics(status: () => AgentStatus, version: string) {
  const names = new FirstNames(MAX_CARGO_NAMES);
  const runs = histogram(
    "atoll_island_run_seconds",
    "From assignment to end of the jobs that ran here, by Cargo; those after the first 50 are other",
    RUN_BOUNDS_S,
    ["cargo"],
  );
  return {
    noteRun({ slug, runMs }: Pick<EndedJob, "slug" | "runMs">): void {
      runs.observe([names.of(slug)], runMs / MS_PER_S);
    },
    /** In Prometheus' text format. */
    read: scraperOf([...readingsOf(status, version), runs], () => import("prom-client")),
  };
}

function readingsOf(status: () => AgentStatus, version: string): Metric[] {
  return [
    gauge("atoll_island_info", "Version of the agent", ["version"], () => [[version, 1]]),
    gauge("atoll_island_connected", "1 while the coordinator can be reached", [], () =>
      flag(status().link === "connected"),
    ),
    gauge("atoll_island_accepting", "1 while new jobs are taken", [], () => flag(status().closedBecause === null)),
    gauge("atoll_island_quarantined", "1 while the coordinator gives no jobs, as several in a row failed", [], () =>
      flag(status().quarantine !== null),
    ),
    gauge("atoll_island_slots", "Slots by whether a job has them", ["state"], () => {
      const { slots, running } = status();
      return Object.entries({ busy: running.length, free: Math.max(0, slots - running.length) });
    }),
    gauge("atoll_island_loaded_cargos", "Cargos in memory", [], () => [[status().loaded.length]]),
    gauge("atoll_island_loaded_bytes", "Memory of the Cargos that are loaded", ["memory"], () => {
      const { loaded } = status();
      return [
        ["ram", loaded.reduce((sum, { ramBytes }) => sum + ramBytes, 0)],
        ["vram", loaded.reduce((sum, { vramBytes }) => sum + vramBytes, 0)],
      ];
    }),
    gauge("atoll_island_memory_cap_bytes", "Most memory that all Cargos together may take", ["memory"], () => {
      const { ramBytes, vramBytes } = status().memoryCaps;
      return [["ram", ramBytes], ...(vramBytes === null ? [] : [["vram", vramBytes] as const])];
    }),
    gauge("atoll_island_gpu_load_ratio", "Load of the busiest graphics card, 0 to 1; no row while unknown", [], () =>
      known(status().usage?.gpuLoad),
    ),
    gauge(
      "atoll_island_temperature_celsius",
      "Of the hottest processor or graphics card; no row while unknown",
      [],
      () => known(status().usage?.temperatureC),
    ),
    counterOf("atoll_island_jobs_total", "Jobs that ended here, by outcome", ["outcome"], () => {
      const { completed, failed, cancelled } = status().counts;
      return Object.entries({ completed, failed, cancelled });
    }),
    counterOf("atoll_island_tokens_total", "Tokens that were generated here", [], () => [[status().counts.tokens]]),
    counterOf("atoll_island_reconnects_total", "Sessions after the first", [], () => [[status().reconnects]]),
  ];
}

const known = (value: number | null | undefined): [number][] => (typeof value === "number" ? [[value]] : []);

const flag = (isSet: boolean): [number][] => [[isSet ? 1 : 0]];
