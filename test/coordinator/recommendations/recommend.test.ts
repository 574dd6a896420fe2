import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeCatalog, type CatalogEntry } from "../../../coordinator/catalog/catalog.ts";
import { cargoRecommender, demandScore, rankCargos } from "../../../coordinator/recommendations/recommend.ts";
import type { OwnerPolicy } from "../../../shared/owner-policy.ts";
import type { IslandRecord } from "../../../coordinator/store/islands.ts";
import { systemClock } from "../../../shared/clock.ts";
import { testEnv } from "../../support/test-env.ts";

const GIB = 1_073_741_824;
const HOST = "3f0c8b1e-5a55-4a6e-9d2f-0a1b2c3d4e5f";
const NOW_MS = 1_800_000_000_000;

function makeCargo(overrides: Partial<CatalogEntry> & { slug: string }): CatalogEntry {
  return {
    workloadId: 1,
    createdAtMs: 0,
    name: overrides.slug,
    description: "",
    category: "llm",
    runtimeType: "llmcpp",
    onnxTaskType: null,
    licence: "MIT",
    priceMicro: 1_000_000,
    runLimitMs: 1,
    waitLimitMs: 1,
    inputSchema: {},
    exampleInput: {},
    outputSchema: {},
    isChat: true,
    model: { url: `hf:o/${overrides.slug}:m.gguf`, sha256: null, sizeBytes: null },
    requiredRamBytes: GIB,
    requiredVramBytes: 0,
    contextTokens: 1_024,
    ...overrides,
  };
}

function makeIsland(hardware: Partial<IslandRecord["hardware"]> = {}): IslandRecord {
  return {
    hostId: HOST,
    accountId: "user_1",
    agentVersion: "0.1.0",
    hostName: null,
    name: null,
    firstSeenAtMs: 0,
    hardware: {
      platform: "linux",
      arch: "x64",
      osName: null,
      cpuModel: null,
      logicalCores: 4,
      physicalCores: null,
      ramBytes: 8 * GIB,
      gpus: [],
      diskFreeBytes: null,
      diskBudgetBytes: GIB,
      ...hardware,
    },
    runtimes: [{ type: "llmcpp", version: "1" }],
    lastSeenAtMs: 0,
  };
}

interface Scene {
  cargos: CatalogEntry[];
  island?: IslandRecord;
  queued?: Record<string, number>;
  completions?: Record<string, number>;
  /** Number of other Islands that have it, by cache key. */
  holders?: Record<string, number>;
  /** Expected cost without the Island, by slug. */
  costs?: Record<string, number>;
  policy?: OwnerPolicy;
}

function recommenderOf(scene: Scene) {
  const { cargos, island = makeIsland(), queued = {}, completions = {}, holders = {}, costs = {}, policy } = scene;
  const askedSinceMs: number[] = [];
  const recommend = cargoRecommender(
    testEnv({ networkFee: 0.1 }, { clock: { ...systemClock, now: () => NOW_MS } }),
    {
      islands: { get: async (hostId) => (hostId === island.hostId ? island : undefined) },
      jobs: {
        completionsSince: async (sinceMs) => {
          askedSinceMs.push(sinceMs);
          return new Map(Object.entries(completions));
        },
      },
    },
    makeCatalog(cargos, { chat: "default" }),
    () => new Map(Object.entries(queued)),
    {
      holdersOf: (exceptId) => (cacheKey) => (exceptId === island.hostId ? (holders[cacheKey] ?? 0) : 1_000),
      costWithout: (exceptId, slug) => (exceptId === island.hostId ? (costs[slug] ?? 0) : 1_000),
    },
    (hostId) => (hostId === island.hostId ? policy : undefined),
  );
  return { recommend, askedSinceMs };
}

async function slugsFor(scene: Scene): Promise<string[]> {
  return (await recommenderOf(scene).recommend(HOST)).map(({ slug }) => slug);
}

describe("cargoRecommender()", () => {
  it("describes a Cargo with its earnings and demand", async () => {
    const cargo = makeCargo({ slug: "a", model: { url: "/models/a.gguf", sha256: "0f".repeat(32), sizeBytes: 5 } });
    const { recommend } = recommenderOf({ cargos: [cargo], queued: { a: 3 }, completions: { a: 4 } });
    expect(await recommend(HOST)).toEqual([
      {
        slug: "a",
        modelUrl: "/models/a.gguf",
        modelHash: "0f".repeat(32),
        runtimeType: "llmcpp",
        estimatedEarningsPerJob: "0.9",
        queuedDemand: 3,
        isDefault: false,
        demandScore: 38,
      },
    ]);
  });
  it("omits Cargos that the Island's owner does not allow", async () => {
    const cargos = [makeCargo({ slug: "a" }), makeCargo({ slug: "b", category: "text" })];
    const any = { allow: null, deny: [] };
    const rules = { network: false, containerGpu: true, runtimes: any, approvedOnly: false };
    const policy = { ...rules, categories: { allow: null, deny: ["text"] } };
    expect(await slugsFor({ cargos, queued: { b: 9 }, policy })).toEqual(["a"]);
    expect(await slugsFor({ cargos, queued: { b: 9 } })).toEqual(["b", "a"]);
  });
  it("names the image of a container, pinned if its digest is known", async () => {
    const container = { image: "docker.io/library/a:1", digest: null, command: null, gpu: false, network: false };
    const hex = "ab".repeat(32);
    const runs = { runtimeType: "container", model: null, isChat: false } as const;
    const { recommend } = recommenderOf({
      cargos: [
        makeCargo({ slug: "a", ...runs, container }),
        makeCargo({ slug: "b", ...runs, container: { ...container, digest: `sha256:${hex}` } }),
        makeCargo({ slug: "c", model: null }),
      ],
      island: { ...makeIsland(), runtimes: [{ type: "container", version: "1" }] },
    });
    const found = await recommend(HOST);
    expect(found.map(({ slug, modelUrl, modelHash }) => [slug, modelUrl, modelHash])).toEqual([
      ["a", "docker.io/library/a:1", null],
      ["b", `docker.io/library/a:1@sha256:${hex}`, hex],
    ]);
  });
  it("rejects a host that never reported", async () => {
    const { recommend } = recommenderOf({ cargos: [] });
    await expect(recommend("other")).rejects.toMatchObject({ code: "not_found" });
  });
  it("counts completions of the last hour", async () => {
    const { recommend, askedSinceMs } = recommenderOf({ cargos: [] });
    await recommend(HOST);
    expect(askedSinceMs).toEqual([NOW_MS - 3_600_000]);
  });
  it("ranks the highest demand first", async () => {
    const cargos = ["a", "b", "c"].map((slug) => makeCargo({ slug }));
    expect(await slugsFor({ cargos, queued: { b: 1 }, completions: { c: 6 } })).toEqual(["c", "b", "a"]);
  });
  it("ranks Cargos that fewer other Islands hold first at equal demand, by hash, address or image", async () => {
    const sha256 = "0f".repeat(32);
    const model = { url: "hf:o/b:m.gguf", sha256, sizeBytes: null };
    const cargos = [makeCargo({ slug: "a" }), makeCargo({ slug: "b", model }), makeCargo({ slug: "c" })];
    expect(await slugsFor({ cargos, holders: { "hf:o/a:m.gguf": 2, [sha256]: 1 } })).toEqual(["c", "b", "a"]);
    const queued = { a: 1 };
    expect(await slugsFor({ cargos, queued, holders: { "hf:o/a:m.gguf": 9, [sha256]: 1 } })).toEqual(["a", "c", "b"]);
    // A job of "b" would finish latest without this Island.
    expect(await slugsFor({ cargos, costs: { b: Infinity, c: 5 } })).toEqual(["b", "c", "a"]);
  });
  it("ranks the default Cargo first at equal demand", async () => {
    const cargos = ["a", "default"].map((slug) => makeCargo({ slug }));
    expect(await slugsFor({ cargos })).toEqual(["default", "a"]);
    expect(await slugsFor({ cargos, queued: { a: 1 } })).toEqual(["a", "default"]);
  });
  it.each([
    ["has no model to download", { model: null }],
    ["needs more RAM", { requiredRamBytes: 8 * GIB + 1 }],
    ["needs VRAM that the Island lacks", { requiredVramBytes: 1 }],
    ["needs a runtime that the Island lacks", { runtimeType: "onnx" as const }],
  ])("omits a Cargo that %s", async (_, overrides) => {
    expect(await slugsFor({ cargos: [makeCargo({ slug: "a" }), makeCargo({ slug: "b", ...overrides })] })).toEqual([
      "a",
    ]);
  });
  it("adds up the VRAM of all GPUs", async () => {
    const gpu = { vendor: null, name: "GPU", vramBytes: 24 * GIB, unifiedMemory: false, driver: null };
    const cargos = [makeCargo({ slug: "large", requiredVramBytes: 42 * GIB })];
    expect(await slugsFor({ cargos, island: makeIsland({ gpus: [gpu, gpu] }) })).toEqual(["large"]);
    expect(await slugsFor({ cargos, island: makeIsland({ gpus: [gpu] }) })).toEqual([]);
  });
  it("omits Core ML, which the interface does not list", async () => {
    const island = { ...makeIsland(), runtimes: [{ type: "coreml" as const, version: "1" }] };
    expect(await slugsFor({ cargos: [makeCargo({ slug: "a", runtimeType: "coreml" })], island })).toEqual([]);
  });
  it("returns the best 20, chosen after the ranking", async () => {
    const cargos = Array.from({ length: 25 }, (_, index) => makeCargo({ slug: `c${String(index).padStart(2, "0")}` }));
    const slugs = await slugsFor({ cargos, queued: { c24: 1 } });
    expect(slugs).toHaveLength(20);
    expect(slugs[0]).toBe("c24");
  });
});

const demands = fc.uniqueArray(
  fc.record({
    slug: fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/),
    queuedDemand: fc.nat(5),
    recentCompletions: fc.nat(20),
    costWithoutMs: fc.constantFrom(0, 10, Infinity),
    holders: fc.nat(3),
    isDefault: fc.boolean(),
  }),
  { selector: ({ slug }) => slug },
);

describe("demandScore()", () => {
  it("counts a waiting job as ten and a recent completion as two", () => {
    expect(demandScore({ queuedDemand: 3, recentCompletions: 4 })).toBe(38);
  });
});

describe("rankCargos()", () => {
  it("ranks the highest score first, then by slug", () => {
    const ranked = rankCargos([
      { slug: "c", queuedDemand: 0, recentCompletions: 5, costWithoutMs: 0, holders: 0, isDefault: false },
      { slug: "b", queuedDemand: 1, recentCompletions: 0, costWithoutMs: 0, holders: 0, isDefault: false },
      { slug: "a", queuedDemand: 0, recentCompletions: 0, costWithoutMs: 0, holders: 0, isDefault: false },
      { slug: "d", queuedDemand: 2, recentCompletions: 0, costWithoutMs: 0, holders: 0, isDefault: false },
    ]);
    expect(ranked.map(({ slug, demandScore: score }) => [slug, score])).toEqual([
      ["d", 20],
      ["b", 10],
      ["c", 10],
      ["a", 0],
    ]);
  });
  it("ranks Cargos with fewer holders first only at equal scores", () => {
    const ranked = rankCargos([
      { slug: "a", queuedDemand: 0, recentCompletions: 5, costWithoutMs: 0, holders: 9, isDefault: false },
      { slug: "b", queuedDemand: 1, recentCompletions: 0, costWithoutMs: 0, holders: 2, isDefault: false },
      { slug: "c", queuedDemand: 0, recentCompletions: 5, costWithoutMs: 0, holders: 2, isDefault: false },
      { slug: "d", queuedDemand: 0, recentCompletions: 0, costWithoutMs: 0, holders: 0, isDefault: false },
    ]);
    expect(ranked.map(({ slug }) => slug)).toEqual(["b", "c", "a", "d"]);
  });
  it("returns the same order for any input order, never a lower score first", () => {
    fc.assert(
      fc.property(demands, (list) => {
        const ranked = rankCargos(list);
        expect(ranked).toEqual(rankCargos(list.toReversed()));
        for (const [index, cargo] of ranked.slice(1).entries()) {
          expect(ranked[index]?.demandScore).toBeGreaterThanOrEqual(cargo.demandScore);
        }
      }),
    );
  });
});
