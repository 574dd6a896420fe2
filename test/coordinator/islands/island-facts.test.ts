import { beforeEach, describe, expect, it } from "vitest";
import { IslandRegistry } from "../../../coordinator/islands/island-registry.ts";
import type { IslandLink, IslandView } from "../../../coordinator/islands/island.ts";
import type { SchedulerIsland } from "../../../coordinator/scheduler/events.ts";
import type { Hello, IslandState } from "../../../shared/protocol/from-island.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { makeHello, makeIslandState } from "../../support/network/frames.ts";
import { testEnv } from "../../support/test-env.ts";

const MODEL_BYTES = 1_000_000_000;
const link: IslandLink = { isOpen: true, send: () => undefined, dismiss: () => undefined };

let clock: ManualClock;
let registry: IslandRegistry;
beforeEach(() => {
  clock = new ManualClock();
  registry = new IslandRegistry(testEnv({}, { clock }), (slug) => (slug === "llama" ? MODEL_BYTES : null));
});

function factsOf({ hostId }: IslandView): SchedulerIsland {
  return registry.factsOf([hostId])[0]?.facts ?? expect.fail("not connected");
}

describe("the hardware class of an Island", () => {
  const gpu = (name: string) => ({ vendor: "nvidia", name, vramBytes: 1 }) as Hello["hardware"]["gpus"][number];
  const classOf = (hardware: Partial<Hello["hardware"]>): string | undefined => {
    const hello = makeHello();
    const island = registry.connect({ ...hello, hardware: { ...hello.hardware, ...hardware } }, "user_1", link);
    return factsOf(island).hardwareClass;
  };

  it("is equal for the same processor and graphics cards in any order", () => {
    const cards = [gpu("RTX 4090"), gpu("RTX 3060")];
    expect(classOf({ gpus: cards })).toBe(classOf({ gpus: cards.toReversed(), ramBytes: 5 }));
  });

  it.each<[string, Partial<Hello["hardware"]>]>([
    ["processor", { cpuModel: "Other" }],
    ["number of cores", { logicalCores: 99 }],
    ["graphics card", { gpus: [gpu("RTX 3060")] }],
  ])("differs for another %s", (_, other) => {
    expect(classOf(other)).not.toBe(classOf({}));
  });

  it("is short for any report", () => {
    const gpus = Array.from({ length: 16 }, () => gpu("x".repeat(100)));
    expect(classOf({ gpus })?.length).toBeLessThanOrEqual(300);
  });
});

it("the measurement of the doctor becomes a fact of the Island", () => {
  const speedOf = (hello: Partial<Hello>) =>
    factsOf(registry.connect(makeHello(hello), "user_1", link)).modelBytesPerMs;
  expect(speedOf({ benchmark: { modelBytesPerMs: 5_000 } })).toBe(5_000);
  expect(speedOf({})).toBeUndefined();
});

describe("the download speed of an Island", () => {
  const connect = () => {
    const island = registry.connect(makeHello(), "user_1", link);
    registry.resume(island, []);
    return (downloads: IslandState["downloads"], afterMs: number): number | undefined => {
      clock.advance(afterMs);
      registry.update(island, makeIslandState({ downloads }));
      return factsOf(island).downloadBytesPerMs;
    };
  };
  const llama = (fraction: number | null) => [{ slug: "llama", fraction, bytesPerSecond: 1e15 }];

  it("follows from the progress and the coordinator's clock, not from the reported speed", () => {
    const report = connect();
    expect(report(llama(0.1), 0)).toBeUndefined();
    expect(report(llama(0.2), 10_000)).toBe(10_000);
  });

  it("is a moving average, which stays when the download has ended", () => {
    const report = connect();
    report(llama(0.1), 0);
    report(llama(0.2), 10_000);
    expect(report(llama(0.4), 10_000)).toBe(13_000);
    expect(report([], 10_000)).toBe(13_000);
  });

  it("counts reports that arrive together as one", () => {
    const report = connect();
    report(llama(0.1), 0);
    expect(report(llama(0.15), 1)).toBeUndefined();
    expect(report(llama(0.2), 9_999)).toBe(10_000);
  });

  it("is at most 10 Gbit/s", () => {
    const report = connect();
    const many = (fraction: number) => Array.from({ length: 1_000 }, () => llama(fraction)).flat();
    report(many(0), 0);
    expect(report(many(1), 1_000)).toBe(1_250_000);
  });

  it.each([
    ["a download that begins again", llama(0.5), llama(0.1)],
    ["an unknown progress", llama(null), llama(null)],
    ["a Cargo of unknown size", [{ slug: "other", fraction: 0.1 }], [{ slug: "other", fraction: 0.2 }]],
  ])("is not measured by %s", (_, first, second) => {
    const report = connect();
    report(first, 0);
    expect(report(second, 10_000)).toBeUndefined();
  });
});
