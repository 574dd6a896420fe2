import { expect, it } from "vitest";
import { IslandReports, type IslandFacts } from "../../../island-agent/execution/island-reports.ts";
import { encodeFrame } from "../../../shared/protocol/codec.ts";
import type { Hello } from "../../../shared/protocol/from-island.ts";
import { makeHello } from "../../support/network/frames.ts";
import { ALLOWS_ALL } from "../builders.ts";
import { NO_ENGINES } from "../no-engines.ts";

it("IslandReports limits a report with many models to the coordinator's 256 KiB, and keeps the first models", () => {
  const cached = Array.from({ length: 9_000 }, (_, index) => ({ key: `${index}`.padStart(64, "k"), bytes: 2 ** 40 }));
  const hello = reportsWith({ files: { cachedModels: () => cached, downloads: () => [], noSpaceFor: () => [] } });
  expect(encodeFrame(hello).length).toBeLessThan(256 * 1_024);
  expect(hello.state.cachedModels.length).toBeGreaterThan(1_500);
  expect(hello.state.cachedModels).toEqual(cached.slice(0, hello.state.cachedModels.length));
});

it("IslandReports reports images only with a command of the owner, and the reading of answers only without", () => {
  const featuresOf = (spawns: boolean) => reportsWith({ engines: { ...NO_ENGINES, spawns } }).features;
  expect(featuresOf(false)).toContain("chat.read");
  expect(featuresOf(false)).not.toContain("chat.images");
  expect(featuresOf(true)).toContain("chat.images");
  expect(featuresOf(true)).not.toContain("chat.read");
});

function reportsWith(facts: object): Hello {
  const { hostId, hardware, slots, state } = makeHello();
  const reports = new IslandReports({
    hostId,
    hardware: () => hardware,
    slots: () => slots,
    runtimeSlots: () => slots,
    version: "0.1.0",
    runtimes: new Map(),
    policy: () => ALLOWS_ALL,
    usage: () => state,
    files: { cachedModels: () => [], downloads: () => [], noSpaceFor: () => [] },
    engines: NO_ENGINES,
    pool: { loaded: () => [], loading: () => [] },
    executor: { working: () => [] },
    outbox: { held: () => [] },
    ...facts,
  } as unknown as IslandFacts);
  return reports.hello(false);
}
