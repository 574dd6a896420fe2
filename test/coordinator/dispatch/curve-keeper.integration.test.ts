import { afterEach, beforeEach, expect, it } from "vitest";
import { openCurveKeeper } from "../../../coordinator/dispatch/curve-keeper.ts";
import type { IslandRegistry, IslandRegistryEvent } from "../../../coordinator/islands/island-registry.ts";
import { openSqliteStore, type SqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { testEnv } from "../../support/test-env.ts";
import { Bench, makeIsland } from "../scheduler/builders.ts";
import { ISLAND_ID, MADE_AT_MS, makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";

let folder: ReturnType<typeof temporaryFolder>;
let store: SqliteStore;

beforeEach(async () => {
  folder = temporaryFolder();
  store = await openSqliteStore({ path: folder.file("atoll.db"), clock: systemClock });
  const report = {
    hostId: ISLAND_ID,
    accountId: await makeAccount(store),
    agentVersion: "0.1.0",
    hostName: null,
    hardware: {
      platform: "linux",
      arch: "x64",
      osName: null,
      cpuModel: null,
      logicalCores: 1,
      physicalCores: null,
      ramBytes: 1,
      gpus: [],
      diskFreeBytes: null,
      diskBudgetBytes: 1,
    },
    runtimes: [],
    lastSeenAtMs: MADE_AT_MS,
  };
  await store.islands.save(report, MADE_AT_MS - 1);
});
afterEach(async () => {
  await store.close();
  folder[Symbol.dispose]();
});

const loaded = { loaded: ["llama"], rttMs: 1, id: ISLAND_ID };
const size = { input: 100, maxOutput: 50, promptParts: [] };

/** A coordinator's scheduler with its keeper, from the connection of the Island on. */
async function start() {
  const bench = new Bench();
  const listeners: ((event: IslandRegistryEvent) => void)[] = [];
  const islands: Pick<IslandRegistry, "subscribe"> = { subscribe: (listener) => void listeners.push(listener) };
  let restored = 0;
  const schedule = (event: Parameters<Bench["step"]>[0]): void => {
    bench.step(event);
    restored += 1;
  };
  const keeper = openCurveKeeper(testEnv(), store, bench.scheduler, islands, { schedule });
  bench.up(loaded);
  for (const listener of listeners) listener({ type: "island_up", island: makeIsland(loaded), busy: 0 });
  await store.islands.curvesOf(ISLAND_ID);
  await Promise.resolve();
  const costMs = (id: string): number => {
    bench.submit({ id, size });
    return bench.choices.get(id)?.candidates[0]?.costMs ?? expect.fail("no choice");
  };
  return { bench, keeper, costMs, restored: () => restored };
}

it("keeps the speed of an Island over a restart of the coordinator", async () => {
  const first = await start();
  const unknownMs = first.costMs("job_1");
  first.bench.finishChat(ISLAND_ID, "job_1", {
    readMs: 10,
    tokenMs: 2,
    tokens: { prompt: 100, cached: null, output: 50 },
  });
  const knownMs = first.costMs("job_2");
  expect(knownMs).toBeLessThan(unknownMs / 5);
  await first.keeper.close();

  const second = await start();
  expect(second.restored()).toBe(1);
  expect(second.costMs("job_1")).toBeCloseTo(knownMs, 3);
  await second.keeper.close();
});

it("does not replace a speed that was measured since the Island connected", async () => {
  const { bench, keeper, costMs } = await start();
  const before = costMs("job_1");
  bench.finishChat(ISLAND_ID, "job_1", { readMs: 10, tokenMs: 2, tokens: { prompt: 100, cached: null, output: 50 } });
  const known = costMs("job_2");
  bench.step({
    kind: "curves_read",
    islandId: ISLAND_ID,
    curves: [{ slug: "llama", numbers: Array.from({ length: 19 }, () => 1e6) }],
  });
  bench.free(ISLAND_ID, "job_2");
  expect(costMs("job_3")).toBeCloseTo(known, 3);
  expect(known).toBeLessThan(before);
  await keeper.close();
});

it("ignores stored numbers of another form", async () => {
  await store.islands.saveCurves([{ hostId: ISLAND_ID, curves: [{ slug: "llama", numbers: [1, 2] }] }]);
  const { keeper, costMs } = await start();
  expect(costMs("job_1")).toBeGreaterThan(1_000);
  await keeper.close();
});
