import { expect, it } from "vitest";
import { agentMetrics } from "../../../island-agent/control/agent-metrics.ts";
import type { AgentStatus } from "../../../island-agent/execution/island-reports.ts";
import { NO_AGENT_STATUS } from "../../support/no-agent-status.ts";

const STATUS: AgentStatus = {
  ...NO_AGENT_STATUS,
  loaded: [{ slug: "tiny-chat", users: 1, ramBytes: 100, vramBytes: 20 }],
  running: [{ jobId: "job_1", slug: "tiny-chat", type: "llmcpp", forMs: 5 }],
  counts: { completed: 4, failed: 1, cancelled: 0, tokens: 99 },
  reconnects: 2,
  usage: { cpuLoad: 0.1, freeRamBytes: 1, freeVramBytes: null, gpuLoad: 0.87, temperatureC: 71 },
};

it("agentMetrics() returns the agent's current status and the run times of jobs", async () => {
  let status = STATUS;
  const metrics = agentMetrics(() => status, "1.2.3");
  for (let nth = 0; nth < 60; nth += 1) metrics.recordRun({ slug: `cargo-${nth}`, runMs: 1_500 });
  const lines = (await metrics.read()).split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      'atoll_island_info{version="1.2.3"} 1',
      "atoll_island_connected 1",
      "atoll_island_accepting 1",
      "atoll_island_quarantined 0",
      'atoll_island_slots{state="busy"} 1',
      'atoll_island_slots{state="free"} 2',
      "atoll_island_loaded_cargos 1",
      'atoll_island_loaded_bytes{memory="vram"} 20',
      'atoll_island_memory_cap_bytes{memory="ram"} 1000',
      'atoll_island_jobs_total{outcome="completed"} 4',
      "atoll_island_tokens_total 99",
      "atoll_island_gpu_load_ratio 0.87",
      "atoll_island_temperature_celsius 71",
      "atoll_island_reconnects_total 2",
      'atoll_island_run_seconds_count{cargo="other"} 10',
    ]),
  );
  expect(lines.filter((line) => line.startsWith("atoll_island_run_seconds_count"))).toHaveLength(51);
  expect(lines.some((line) => line.startsWith("process_resident_memory_bytes "))).toBe(true);
  const { usage: _, ...unknown } = STATUS;
  status = { ...unknown, link: "waiting", closedBecause: "paused" };
  const later = await metrics.read();
  expect(later).not.toMatch(/^atoll_island_(?:gpu_load_ratio|temperature_celsius)/m);
  expect([later.includes("atoll_island_connected 0\n"), later.includes("atoll_island_accepting 0\n")]).toEqual([
    true,
    true,
  ]);
});
