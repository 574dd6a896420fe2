import { beforeEach, describe, expect, it } from "vitest";
import { measureIslandWork, type IslandWork } from "../../../coordinator/operators/island-work.ts";
import type { ActiveJob } from "../../../coordinator/jobs/active-job.ts";
import type { JobRegistryEvent } from "../../../coordinator/jobs/job-registry-events.ts";
import type { Choice } from "../../../coordinator/scheduler/events.ts";
import type { ReportedIsland } from "../../../coordinator/islands/island-registry.ts";
import { ManualClock } from "../../support/manual-clock.ts";

let clock: ManualClock;
let connected: readonly string[];
let tell: (event: JobRegistryEvent) => void;
let work: IslandWork;

beforeEach(() => {
  clock = new ManualClock();
  connected = ["isle-1", "isle-2", "isle-3"];
  const islands = {
    connected: () => connected.map((hostId) => ({ island: { hostId }, facts: { slots: 4 } }) as ReportedIsland),
  };
  const placementOf = (_jobId: string, islandId: string | null) => {
    const choice = { reason: "cost", islandId, candidates: [{ islandId, cachedTokens: 30.4 }] };
    return { choice: choice as unknown as Choice, reservedIslandId: null };
  };
  work = measureIslandWork({ subscribe: (listener) => void (tell = listener) }, islands, { placementOf }, clock);
});

const jobOn = (islandId: string | null, tokens: number, state = "completed"): ActiveJob =>
  ({ id: "job_1", islandId, state, meter: { tokens } }) as unknown as ActiveJob;
const end = (job: ActiveJob, usage: object | null): void =>
  tell({ type: "job_ended", job, ending: { usage } } as JobRegistryEvent);
const row = (islandId: string, outputTokens: number, cachedTokens: number) => ({
  islandId,
  slots: 4,
  outputTokens,
  cachedTokens,
});

describe("measureIslandWork()", () => {
  it("counts output and cached prompt tokens by connected Island, the most output first", () => {
    end(jobOn("isle-2", 50), { promptTokens: 100, cachedTokens: 80 });
    end(jobOn("isle-1", 20), { promptTokens: 100 });
    end(jobOn("gone", 90), { promptTokens: 10 });
    tell({ type: "attempt_failed", job: jobOn("isle-1", 5) } as JobRegistryEvent);
    end(jobOn("isle-1", 1, "failed"), null);
    end(jobOn(null, 0, "cancelled"), null);
    expect(work.read()).toEqual({
      promptTokens: 210,
      cachedTokens: 120,
      islands: [row("isle-2", 50, 80), row("isle-1", 26, 30), row("isle-3", 0, 0)],
    });
    expect(work.cachedTokens).toBe(120);
  });

  it("never counts more cached tokens than the prompt has", () => {
    end(jobOn("isle-1", 1), { promptTokens: 10, cachedTokens: 1e9 });
    expect(work.read().cachedTokens).toBe(10);
  });

  it("drops work after 10 minutes", () => {
    end(jobOn("isle-1", 7), { promptTokens: 10 });
    clock.advance(9 * 60_000);
    expect(work.read()).toMatchObject({ promptTokens: 10, islands: [row("isle-1", 7, 10), {}, {}] });
    clock.advance(60_000);
    expect(work.read()).toMatchObject({ promptTokens: 0, cachedTokens: 0, islands: [row("isle-1", 0, 0), {}, {}] });
    expect(work.cachedTokens).toBe(10);
  });

  it("shows at most 20 Islands", () => {
    connected = Array.from({ length: 30 }, (_, index) => `isle-${index}`);
    end(jobOn("isle-29", 7), { promptTokens: 10 });
    const { islands } = work.read();
    expect([islands.length, islands[0]?.islandId]).toEqual([20, "isle-29"]);
  });
});
