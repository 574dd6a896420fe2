import { describe, expect, it } from "vitest";
import { reliableSuccessRate, UNMEASURED, withRun } from "../../../coordinator/scheduler/island-record.ts";
import {
  loadOf,
  meritOf,
  modelAvailabilityOf,
  rankOf,
  type ModelAvailability,
} from "../../../coordinator/scheduler/rank.ts";
import type { SchedulerIsland } from "../../../coordinator/scheduler/events.ts";
import { makeCargo, makeIsland } from "./builders.ts";

interface Case extends Partial<SchedulerIsland> {
  availability?: ModelAvailability;
  speed?: number | null;
  success?: number;
  inUse?: number;
}

function rank({ availability = "absent", speed = null, success = 1, inUse = 0, ...island }: Case): number {
  const runs = { successes: 20 * success, failures: 20 * (1 - success) };
  const merit = meritOf(availability, { tokensPerSecond: speed, ...runs });
  return rankOf(merit, loadOf(makeIsland({ slots: 10, ...island }), inUse));
}

describe("rankOf()", () => {
  it.each<[string, Case, Case]>([
    [
      "a loaded model before a model on disk, however slow",
      { availability: "loaded", speed: 0.1, success: 0, inUse: 9 },
      { availability: "on_disk", speed: 999 },
    ],
    [
      "a model on disk before no model, however slow",
      { availability: "on_disk", speed: 0.1, success: 0, inUse: 9 },
      { speed: 999 },
    ],
    ["the faster Island first, whatever fails", { speed: 60, success: 0 }, { speed: 30 }],
    ["a fast Island before an unknown speed", { speed: 30 }, { speed: null }],
    ["an unknown speed before a slow Island", { speed: null }, { speed: 3 }],
    ["a reliable Island before an idle one", { success: 1, inUse: 9 }, { success: 0.8 }],
    ["an idle Island before one with a slot in use", { slots: 100, cpuLoad: 1 }, { slots: 100, inUse: 1, cpuLoad: 0 }],
    ["an idle CPU before a loaded one", { cpuLoad: 0.2, rttMs: 900 }, { cpuLoad: 0.9, rttMs: 1 }],
    ["an unknown CPU load in the middle", { cpuLoad: null }, { cpuLoad: 0.8 }],
    ["a short round trip before a long one", { rttMs: 10 }, { rttMs: 80 }],
    ["an unknown round trip before a very long one", { rttMs: null }, { rttMs: 500 }],
  ])("ranks %s", (_, first, second) => {
    expect(rank(first)).toBeLessThan(rank(second));
  });

  it("treats speeds within a fifth as equal, so that load decides", () => {
    expect(rank({ speed: 31, inUse: 0 })).toBeLessThan(rank({ speed: 33, inUse: 5 }));
  });

  it("is a safe integer at the extremes", () => {
    const worst = rank({ speed: 1e-9, success: 0, inUse: 10, cpuLoad: 1, rttMs: 1e9 });
    const best = rank({ availability: "loaded", speed: 1e12, cpuLoad: 0, rttMs: 0 });
    expect([Number.isSafeInteger(worst), Number.isSafeInteger(best)]).toEqual([true, true]);
    expect(best).toBeGreaterThanOrEqual(0);
  });
});

describe("modelAvailabilityOf()", () => {
  it("treats a Cargo without a model as on disk", () => {
    expect(modelAvailabilityOf(makeCargo({ model: null }), makeIsland())).toBe("on_disk");
  });
  it("matches a cached model by its hash", () => {
    const sha256 = "a".repeat(64);
    const cargo = makeCargo({ model: { url: "https://example.org/m", sha256, sizeBytes: null } });
    expect(modelAvailabilityOf(cargo, makeIsland({ cachedModels: [sha256] }))).toBe("on_disk");
    expect(modelAvailabilityOf(cargo, makeIsland())).toBe("absent");
    expect(modelAvailabilityOf(cargo, makeIsland({ loaded: ["llama"] }))).toBe("loaded");
    const served = { key: sha256, features: [], slots: 4, contextTokens: null, parameters: null, quantization: null };
    expect(modelAvailabilityOf(cargo, makeIsland({ engineModels: [served] }))).toBe("loaded");
  });
  it("matches a cached folder by its address and weights", () => {
    const model = { url: "hf:owner/repo", sha256: null, sizeBytes: null };
    const cargo = makeCargo({ runtimeType: "onnx", model, weights: "q8" });
    expect(modelAvailabilityOf(cargo, makeIsland({ cachedModels: ["hf:owner/repo q8"] }))).toBe("on_disk");
    expect(modelAvailabilityOf(cargo, makeIsland({ cachedModels: ["hf:owner/repo fp32", "hf:owner/repo"] }))).toBe(
      "absent",
    );
  });
  it("matches a cached image by its reference", () => {
    const container = { image: "docker.io/library/a:1", digest: null, command: null, gpu: false, network: false };
    const cargo = makeCargo({ runtimeType: "container", model: null, container });
    expect(modelAvailabilityOf(cargo, makeIsland())).toBe("absent");
    expect(modelAvailabilityOf(cargo, makeIsland({ cachedModels: ["docker.io/library/a:1"] }))).toBe("on_disk");
  });
});

describe("withRun()", () => {
  it("starts with the first speed and moves by a fifth afterwards", () => {
    const first = withRun(UNMEASURED, { tokensPerSecond: 10, succeeded: true });
    expect(first).toEqual({ tokensPerSecond: 10, successes: 1, failures: 0 });
    expect(withRun(first, { tokensPerSecond: 20, succeeded: false })).toEqual({
      tokensPerSecond: 12,
      successes: 0.95,
      failures: 1,
    });
  });
  it.each([null, 0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    "keeps the speed if a run reports %s",
    (tokensPerSecond) => {
      const measure = { tokensPerSecond: 7, successes: 1, failures: 0 };
      expect(withRun(measure, { tokensPerSecond, succeeded: true }).tokensPerSecond).toBe(7);
    },
  );
});

describe("reliableSuccessRate()", () => {
  const after = (...runs: readonly boolean[]): number =>
    reliableSuccessRate(
      runs.reduce((measure, succeeded) => withRun(measure, { tokensPerSecond: null, succeeded }), UNMEASURED),
    );
  const times = (count: number, succeeded: boolean): boolean[] => Array.from({ length: count }, () => succeeded);

  it("is low for a new Island and rises with each successful run", () => {
    const rates = [0, 1, 2, 5, 10, 40].map((count) => after(...times(count, true)));
    expect(rates.map((rate) => rate.toFixed(2))).toEqual(["0.21", "0.43", "0.55", "0.72", "0.81", "0.90"]);
  });

  it("is lower for a new Island than with one failure in ten runs, and higher than with failures only", () => {
    const tenth = [...times(9, true), false, ...times(9, true), false, ...times(9, true)];
    expect(after()).toBeLessThan(after(...tenth));
    expect(after()).toBeGreaterThan(after(false));
  });

  it("drops old runs over time", () => {
    expect(after(...times(200, true), ...times(40, false))).toBeLessThan(0.2);
  });
});
