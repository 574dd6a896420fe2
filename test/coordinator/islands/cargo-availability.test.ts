import { describe, expect, it } from "vitest";
import { makeCatalog, type CatalogEntry } from "../../../coordinator/catalog/catalog.ts";
import {
  cargoAvailability,
  MAX_COUNTED,
  type AvailableCargo,
} from "../../../coordinator/islands/cargo-availability.ts";
import type { SchedulerIsland } from "../../../coordinator/scheduler/events.ts";
import { cacheKeyOf } from "../../../shared/cargo.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { GB, makeCargo, makeIsland } from "../scheduler/builders.ts";

function entry(slug: string, overrides: Partial<CatalogEntry> = {}): CatalogEntry {
  const words = { name: slug, description: "", category: "llm", licence: "MIT", isChat: true } as const;
  const schemas = { inputSchema: {}, exampleInput: {}, outputSchema: {} };
  const limits = { workloadId: 1, createdAtMs: 0, priceMicro: 1, runLimitMs: 1, waitLimitMs: 1 };
  return { ...makeCargo({ slug, requiredRamBytes: GB }), ...words, ...schemas, ...limits, ...overrides };
}

function open(
  cargos: readonly CatalogEntry[],
  islands: readonly (Partial<SchedulerIsland> & { busy?: number })[],
  others: readonly (readonly AvailableCargo[] | undefined)[] = [],
) {
  const clock = new ManualClock();
  let [asked, counted] = [0, 0];
  const connected = islands.map(({ busy = 0, ...facts }) => ({
    island: { slotsInUse: busy } as never,
    facts: makeIsland(facts),
  }));
  const availability = cargoAvailability(
    clock,
    { connected: () => ((counted += 1), connected) },
    makeCatalog(cargos, { chat: "llama" }),
    async () => ((asked += 1), others),
  );
  return { availability, clock, asked: () => asked, counted: () => counted };
}

describe("cargoAvailability()", () => {
  it("counts Islands that fit, that have the model, and that have a free slot", async () => {
    const llama = entry("llama");
    const key = cacheKeyOf(llama) ?? "";
    const { availability } = open(
      [llama, entry("large", { requiredRamBytes: 64 * GB }), entry("sd", { runtimeType: "diffusers" })],
      [{ cachedModels: [key], busy: 1 }, {}, { draining: true }, { ramBytes: 1 }],
    );
    expect(await availability.of("user_1")).toEqual({
      cargos: [{ slug: "llama", islands: 2, ready: 1, free: 1 }],
      isComplete: true,
    });
  });

  it("counts Islands whose engine serves the model, whatever their runtimes and memory are", async () => {
    const declared = entry("declared-qwen3", {
      runtimeType: "engine",
      model: { url: "engine:qwen3:8b", sha256: null, sizeBytes: null },
      requiredRamBytes: 64 * GB,
    });
    const served = { features: [], slots: 4, contextTokens: null, parameters: null, quantization: null };
    const { availability } = open([declared], [{ engineModels: [{ key: "engine:qwen3:8b", ...served }] }, {}]);
    expect((await availability.of("user_1")).cargos).toEqual([
      { slug: "declared-qwen3", islands: 1, ready: 1, free: 1 },
    ]);
  });

  it("shows an unapproved Cargo to its owner, on the owner's Islands", async () => {
    const { availability } = open([entry("mine", { privateTo: "user_1" })], [{ accountId: "user_1" }, {}]);
    expect((await availability.of("user_1")).cargos).toMatchObject([{ slug: "mine", islands: 1 }]);
    expect((await availability.of("user_2")).cargos).toEqual([]);
  });

  it("adds the counts of other coordinators, and reports when one does not reply", async () => {
    const told = [
      { slug: "llama", islands: 2, ready: 2, free: 0 },
      { slug: "sd", islands: 1, ready: 0, free: 1 },
    ];
    const { availability } = open([entry("llama")], [{}], [told, undefined, undefined]);
    expect(await availability.of("user_1")).toEqual({
      cargos: [
        { slug: "llama", islands: 3, ready: 2, free: 1 },
        { slug: "sd", islands: 1, ready: 0, free: 1 },
      ],
      isComplete: false,
    });
  });

  it("counts public Cargos once for all accounts", async () => {
    const { availability, counted } = open([entry("llama")], [{}]);
    for (const account of ["user_1", "user_2", "user_3"]) await availability.of(account);
    expect(counted()).toBe(1);
  });

  it("returns the same result for five seconds, and stops counting at a limit", async () => {
    const { availability, clock, asked } = open(
      [entry("llama")],
      Array.from({ length: MAX_COUNTED + 50 }, () => ({})),
    );
    expect((await availability.of("user_1")).cargos).toMatchObject([{ islands: MAX_COUNTED, free: MAX_COUNTED }]);
    await availability.of("user_1");
    expect(asked()).toBe(1);
    clock.advance(5_000);
    await availability.of("user_1");
    expect(asked()).toBe(2);
  });
});
