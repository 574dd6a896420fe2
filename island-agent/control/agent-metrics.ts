import { counterOf, FirstNames, gauge, histogram, scraperOf, type Metric } from "../../shared/metrics.ts";
import type { AgentStatus } from "../execution/island-reports.ts";
import type { EndedJob } from "../execution/job-history.ts";

/** Maximum number of Cargos with separate rows. */
const MAX_CARGO_NAMES = 50;
const MS_PER_S = 1_000;
const RUN_BOUNDS_S = [0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 3_600];

export type AgentMetrics = ReturnType<typeof agentMetrics>;

/** Returns the metrics of one Island for its owner's Prometheus. */
export function agentMetrics(status: () => AgentStatus, version: string) {
  const names = new FirstNames(MAX_CARGO_NAMES);
  const runs = histogram(
    "atoll_island_run_seconds",
    "Time from assignment to end of a job, by Cargo; Cargos after the first 50 count as `other`",
    RUN_BOUNDS_S,
    ["cargo"],
  );
  const metrics = [...readingsOf(status, version), runs];
  return {
    recordRun({ slug, runMs }: Pick<EndedJob, "slug" | "runMs">): void {
      runs.observe([names.of(slug)], runMs / MS_PER_S);
    },
    /** Returns the metrics in Prometheus' text format. */
    read: scraperOf(metrics, () => import("prom-client")),
    /** All metrics except those of the process. */
    metrics,
  };
}

function readingsOf(status: () => AgentStatus, version: string): Metric[] {
  return [
    gauge("atoll_island_info", "Version of the agent, as a label; always 1", ["version"], () => [[version, 1]]),
    gauge("atoll_island_connected", "1 while the agent is connected to a coordinator", [], () =>
      flag(status().link === "connected"),
    ),
    gauge("atoll_island_accepting", "1 while the Island takes new jobs", [], () =>
      flag(status().closedBecause === null),
    ),
    gauge("atoll_island_quarantined", "1 while the Island is in quarantine after several failures in a row", [], () =>
      flag(status().quarantine !== null),
    ),
    gauge("atoll_island_slots", "Job slots: `busy` or `free`", ["state"], () => {
      const { slots, running } = status();
      return Object.entries({ busy: running.length, free: Math.max(0, slots - running.length) });
    }),
    gauge("atoll_island_loaded_cargos", "Cargos that are loaded in memory", [], () => [[status().loaded.length]]),
    gauge("atoll_island_loaded_bytes", "Memory used by loaded Cargos: `ram` or `vram`", ["memory"], () => {
      const { loaded } = status();
      return [
        ["ram", loaded.reduce((sum, { ramBytes }) => sum + ramBytes, 0)],
        ["vram", loaded.reduce((sum, { vramBytes }) => sum + vramBytes, 0)],
      ];
    }),
    gauge(
      "atoll_island_memory_cap_bytes",
      "Maximum memory that all Cargos together may use: `ram` or `vram`",
      ["memory"],
      () => {
        const { ramBytes, vramBytes } = status().memoryCaps;
        return [["ram", ramBytes], ...(vramBytes === null ? [] : [["vram", vramBytes] as const])];
      },
    ),
    gauge(
      "atoll_island_gpu_load_ratio",
      "Load of the busiest GPU, 0 to 1, from nvidia-smi or amdgpu; absent while unknown",
      [],
      () => known(status().usage?.gpuLoad),
    ),
    gauge("atoll_island_temperature_celsius", "Temperature of the hottest CPU or GPU; absent while unknown", [], () =>
      known(status().usage?.temperatureC),
    ),
    counterOf(
      "atoll_island_jobs_total",
      "Jobs that ended on this Island: `completed`, `failed` or `cancelled`",
      ["outcome"],
      () => {
        const { completed, failed, cancelled } = status().counts;
        return Object.entries({ completed, failed, cancelled });
      },
    ),
    counterOf("atoll_island_tokens_total", "Tokens that this Island generated", [], () => [[status().counts.tokens]]),
    counterOf("atoll_island_reconnects_total", "Reconnects: sessions after the first", [], () => [
      [status().reconnects],
    ]),
  ];
}

const known = (value: number | null | undefined): [number][] => (typeof value === "number" ? [[value]] : []);

const flag = (isSet: boolean): [number][] => [[isSet ? 1 : 0]];
