import { afterEach, expect, it, vi } from "vitest";
import { JobQuota } from "../../coordinator/quotas/job-quota.ts";
import { IslandRegistry } from "../../coordinator/islands/island-registry.ts";
import { runScenario, runSeed, type RunResult } from "./run-seed.ts";
import { shrink } from "./shrink.ts";
import { SimulatedDatabase } from "./simulated-database.ts";

const database = new SimulatedDatabase();
const MAX_SEEDS = 50;

afterEach(() => void vi.restoreAllMocks());

it("a quota slot that is never released is found, and its history shrinks to a few steps", async () => {
  vi.spyOn(JobQuota.prototype, "leave").mockImplementation(() => undefined);
  const shortest = await shortestFailure();
  expect(shortest.broken[0]).toContain("holds a quota slot");
  // After the submission of a job, the network needs no more steps.
  expect(shortest.steps.length).toBeLessThanOrEqual(2);
});

it("a slot that is never released is found, and its history shrinks to a few steps", async () => {
  vi.spyOn(IslandRegistry.prototype, "freeSlot").mockImplementation(() => undefined);
  const shortest = await shortestFailure();
  expect(shortest.steps.length).toBeLessThanOrEqual(6);
});

async function shortestFailure(): Promise<RunResult> {
  for (let seed = 1; seed <= MAX_SEEDS; seed += 1) {
    const run = await runSeed(seed, database);
    if (run.broken.length > 0) return shrink(run, (scenario) => runScenario(scenario, database));
  }
  throw new Error(`None of ${MAX_SEEDS} seeds failed`);
}
