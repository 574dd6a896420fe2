import { beforeEach, describe, expect, it } from "vitest";
import { IslandRegistry } from "../../../coordinator/islands/island-registry.ts";
import type { IslandLink, IslandView } from "../../../coordinator/islands/island.ts";
import type { IslandState } from "../../../shared/protocol/from-island.ts";
import { makeHello, makeIslandState } from "../../support/network/frames.ts";
import { testEnv } from "../../support/test-env.ts";

const MODEL = { key: "857f6ac0d6da446c8d8aa0b4349f9f49", bytes: 1_000 };

describe("a heartbeat of an Island", () => {
  let registry: IslandRegistry;
  let island: IslandView;
  let events: number;
  beforeEach(() => {
    registry = new IslandRegistry(testEnv(), () => null);
    const link: IslandLink = { isOpen: true, send: () => undefined, dismiss: () => undefined };
    const state = makeIslandState({ cpuLoad: 0.5, cachedModels: [MODEL], loaded: ["tiny-chat"] });
    island = registry.connect(makeHello({ state }), "user_1", link);
    registry.resume(island, []);
    events = 0;
    registry.subscribe(() => (events += 1));
  });
  const beat = (change: Partial<IslandState>): number => {
    const before = events;
    const same = { cpuLoad: 0.5, cachedModels: [{ ...MODEL }], loaded: ["tiny-chat"] };
    registry.update(island, makeIslandState({ ...same, ...change }));
    return events - before;
  };

  it.each<[string, Partial<IslandState>]>([
    ["repeats the last one", {}],
    ["has other free memory", { freeRamBytes: 1, freeVramBytes: 2 }],
    ["has another load", { cpuLoad: 0.9 }],
    ["counts the work of attempts", { working: [{ jobId: "job_1", attempt: 1, count: 3 }] }],
  ])("causes no event when it %s", (_title, change) => {
    expect(beat(change)).toBe(0);
  });

  it.each<[string, Partial<IslandState>]>([
    ["another model on disk", { cachedModels: [{ key: "another", bytes: 1 }] }],
    ["no more models on disk", { cachedModels: [] }],
    ["another Cargo in memory", { loaded: ["tiny-chat", "other"] }],
    ["a Cargo being loaded", { loading: ["other"] }],
    ["a download", { downloads: [{ slug: "tiny-chat", fraction: 0.5 }] }],
  ])("causes an event when it has %s, but not when that is repeated", (title, change) => {
    expect(beat(change)).toBe(1);
    expect(beat(change)).toBe(title === "a download" ? 1 : 0);
  });

  it("causes an event when the round trip has changed since the last one", () => {
    registry.setRoundTrip(island, 10);
    expect(beat({})).toBe(1);
    registry.setRoundTrip(island, 11);
    expect(beat({})).toBe(0);
    registry.setRoundTrip(island, 300);
    expect(beat({})).toBe(1);
  });
});
