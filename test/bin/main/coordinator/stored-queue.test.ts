import { describe, expect, it } from "vitest";
import type { CargoFile } from "../../../../coordinator/catalog/cargo-fields.ts";
import { storedQueue } from "../../../../bin/main/coordinator/stored-queue.ts";
import type { KnownIsland, UnfinishedJobs } from "../../../../coordinator/store/accounts/operators.ts";

const cargo = { runtime_type: "onnx", required_ram_mb: 1_024, required_vram_mb: 0 } as CargoFile;
const island = (type: string, ramBytes: number): KnownIsland =>
  ({
    accountId: "user_1",
    runtimes: [{ type, version: "1" }],
    hardware: { ramBytes, gpus: [] },
  }) as unknown as KnownIsland;
const waiting: UnfinishedJobs = { slug: "a", state: "pending", jobs: 2, oldestAtMs: 5 };
const reasonWith = (islands: readonly KnownIsland[], onlyIslandsOf: string | null = null) =>
  storedQueue([waiting], islands, () => ({ file: cargo, onlyIslandsOf }))[0]?.reason;

describe("storedQueue()", () => {
  it("returns why stored jobs wait", () => {
    expect(storedQueue([waiting], [], () => null)[0]?.reason).toBe("no_cargo");
    expect(reasonWith([])).toBe("no_island_online");
    expect(reasonWith([island("wasm", 2 ** 33)])).toBe("no_island_offers_runtime");
    expect(reasonWith([island("wasm", 2 ** 33), island("onnx", 2 ** 29)])).toBe("no_island_fits");
    expect(reasonWith([island("onnx", 2 ** 30)])).toBe("all_busy");
  });

  it("counts only the owner's Islands for a Cargo that is not approved", () => {
    expect(reasonWith([island("onnx", 2 ** 30)], "user_2")).toBe("own_islands_only");
    expect(reasonWith([island("onnx", 2 ** 29)], "user_1")).toBe("no_island_fits");
  });

  it("counts by Cargo, most waiting jobs first", () => {
    const unfinished: UnfinishedJobs[] = [
      { slug: "b", state: "running", jobs: 4, oldestAtMs: 1 },
      { slug: "b", state: "queued", jobs: 1, oldestAtMs: 2 },
      waiting,
    ];
    expect(storedQueue(unfinished, [], () => ({ file: cargo, onlyIslandsOf: null }))).toEqual([
      { slug: "a", waiting: 2, running: 0, oldestAtMs: 5, reason: "no_island_online" },
      { slug: "b", waiting: 0, running: 5, oldestAtMs: null, reason: null },
    ]);
  });
});
