import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CargoPool } from "../../../island-agent/execution/cargo-pool.ts";
import { settle } from "../../support/event-log.ts";
import type { FakeRuntime } from "../../support/models/fake-runtime.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { type FakeFiles, makeManifest, NEVER } from "../builders.ts";
import { CAPS, MODEL, PoolWorld, RAM_BYTES, stateOf } from "./pool-world.ts";

let world: PoolWorld;
let runtime: FakeRuntime;
let files: FakeFiles;
let clock: ManualClock;
let pool: CargoPool;

beforeEach(() => {
  world = new PoolWorld();
  ({ runtime, files, clock, pool } = world);
});
afterEach(() => world[Symbol.asyncDispose]());

const acquire: PoolWorld["acquire"] = (...parameters) => world.acquire(...parameters);
const slugs = (): string[] => world.slugs();

describe("CargoPool's memory budget", () => {
  it("unloads only the least recently used idle Cargo", async () => {
    (await acquire("a")).release();
    (await acquire("b")).release();
    (await acquire("a")).release();
    await acquire("c");
    expect(runtime.events.all).toEqual([
      "load a",
      "loaded a",
      "load b",
      "loaded b",
      "dispose b",
      "disposed b",
      "load c",
      "loaded c",
    ]);
    expect(slugs()).toEqual(["a", "c"]);
  });

  it("admits waiting Cargos when the caps rise, and unloads idle ones when they fall", async () => {
    await acquire("a", 15);
    const second = acquire("b", 15);
    expect(await stateOf(second)).toBe("waiting");
    world.pool.setCaps({ ...CAPS, ramBytes: 30 });
    (await second).release();
    await expect(acquire("c", 31)).rejects.toThrow("this Island gives Cargos 0 MiB");
    world.pool.setCaps(CAPS);
    await runtime.events.happened("disposed b");
    expect(slugs()).toEqual(["a"]);
    runtime.mostBytes = 0;
  });

  it("refuses a waiting Cargo when a cap falls below its need, and admits those behind it", async () => {
    const first = await acquire("a", 12);
    const [large, small] = [acquire("b", 15), acquire("c", 4)];
    expect([await stateOf(large), await stateOf(small)]).toEqual(["waiting", "waiting"]);
    world.pool.setCaps({ ...CAPS, ramBytes: 14 });
    await expect(large).rejects.toMatchObject({ code: "out_of_memory", retryable: true });
    expect(await stateOf(small)).toBe("waiting");
    first.release();
    await small;
    expect(slugs()).toEqual(["c"]);
  });

  it("makes a load wait while all loaded Cargos run, and admits it as soon as one is idle", async () => {
    const first = await acquire("a", 15);
    const second = acquire("b", 15);
    expect(await stateOf(second)).toBe("waiting");
    expect(runtime.events.count("load b")).toBe(0);
    expect(runtime.events.count("dispose a")).toBe(0);
    first.release();
    await second;
    expect(runtime.events.all).toEqual(["load a", "loaded a", "dispose a", "disposed a", "load b", "loaded b"]);
  });

  it("counts a Cargo from the start of its load", async () => {
    runtime.heldLoads.add("a");
    const first = acquire("a", 15);
    await runtime.events.happened("held load a");
    const second = acquire("b", 15);
    expect(await stateOf(second)).toBe("waiting");
    expect(runtime.events.count("load b")).toBe(0);
    runtime.go("load a");
    (await first).release();
    await second;
  });

  it("counts an unloading Cargo until it is disposed", async () => {
    runtime.heldDisposals.add("a");
    (await acquire("a", 15)).release();
    const second = acquire("b", 15);
    await runtime.events.happened("dispose a");
    const third = acquire("c", 5);
    expect(await stateOf(second)).toBe("waiting");
    expect(runtime.events.all.slice(2)).toEqual(["dispose a"]);
    runtime.go("dispose a");
    await Promise.all([second, third]);
  });

  it("unloads no other Cargo while enough memory is being freed", async () => {
    runtime.heldDisposals.add("a");
    (await acquire("a")).release();
    (await acquire("b")).release();
    const first = acquire("c");
    await runtime.events.happened("dispose a");
    const second = acquire("d", 5);
    await settle();
    expect(runtime.events.count("dispose b")).toBe(0);
    runtime.go("dispose a");
    await Promise.all([first, second]);
    expect(runtime.events.count("dispose b")).toBe(1);
  });

  it("uses the runtime's estimate instead of the Cargo's definition", async () => {
    runtime.estimates.set("a", { ramBytes: 5, vramBytes: 0 });
    await acquire("a", 20);
    await acquire("b", 15);
    expect(slugs()).toEqual(["a", "b"]);
  });

  it("limits VRAM separately from RAM", async () => {
    for (const slug of ["a", "b", "c"]) runtime.estimates.set(slug, { ramBytes: 1, vramBytes: 4 });
    (await acquire("a")).release();
    await acquire("b");
    await acquire("ram-only", 15);
    expect(runtime.events.count("dispose a")).toBe(0);
    await acquire("c");
    expect(slugs()).toEqual(["b", "ram-only", "c"]);
  });

  it("unloads the Cargo with the missing kind of memory, even if it was used last", async () => {
    runtime.estimates.set("gpu", { ramBytes: 0, vramBytes: 8 });
    runtime.estimates.set("gpu2", { ramBytes: 0, vramBytes: 8 });
    (await acquire("cpu", 10)).release();
    (await acquire("gpu", 0)).release();
    await acquire("gpu2", 0);
    expect(slugs()).toEqual(["cpu", "gpu2"]);
  });

  it("refuses a Cargo that can never fit, with the sizes", async () => {
    runtime.estimates.set("a", { ramBytes: 3, vramBytes: 9 });
    await expect(acquire("a")).rejects.toMatchObject({
      code: "out_of_memory",
      retryable: true,
      message: "a needs 1 MiB of VRAM (estimated from its files), but this Island gives Cargos 0 MiB",
    });
    expect(runtime.events.count("load a")).toBe(0);
  });

  it("refuses the next load of a Cargo that was measured above the cap", async () => {
    (await acquire("a")).release();
    runtime.residentBytes.set("a", RAM_BYTES + 1);
    (await acquire("a")).release();
    await runtime.events.happened("disposed a");
    await expect(acquire("a")).rejects.toThrow("(measured here)");
    expect(runtime.estimated).toEqual(["a"]);
  });

  it("uses the estimate again ten minutes after a measurement above the cap", async () => {
    runtime.residentBytes.set("a", RAM_BYTES + 1);
    (await acquire("a")).release();
    await runtime.events.happened("disposed a");
    runtime.residentBytes.delete("a");
    clock.advance(599_999);
    await expect(acquire("a")).rejects.toThrow("(measured here)");
    clock.advance(1);
    await acquire("a");
    expect(runtime.estimated).toEqual(["a", "a"]);
  });

  it("unloads idle Cargos as soon as a job has made a used Cargo grow", async () => {
    (await acquire("idle", 10)).release();
    await acquire("busy", 5);
    const other = await acquire("busy", 5);
    runtime.residentBytes.set("busy", 15);
    other.release();
    await runtime.events.happened("disposed idle");
    expect(slugs()).toEqual(["busy"]);
  });

  it("unloads idle Cargos when a loaded Cargo takes more than estimated", async () => {
    (await acquire("idle", 10)).release();
    runtime.residentBytes.set("big", 18);
    await acquire("big", 10);
    await runtime.events.happened("disposed idle");
    expect(slugs()).toEqual(["big"]);
  });

  it("unloads idle Cargos above the caps even while a waiting Cargo would still not fit", async () => {
    (await acquire("idle", 5)).release();
    const busy = await acquire("busy", 15);
    const waiting = acquire("big", 20);
    await settle();
    expect(runtime.events.count("dispose idle")).toBe(0);
    const other = await acquire("busy", 15);
    runtime.residentBytes.set("busy", 18);
    other.release();
    await runtime.events.happened("disposed idle");
    expect(slugs()).toEqual(["busy"]);
    busy.release();
    (await waiting).release();
  });

  it("unloads nothing after a job that did not make its Cargo grow", async () => {
    (await acquire("idle", 5)).release();
    await acquire("busy", 15);
    (await acquire("busy", 15)).release();
    await settle();
    expect(slugs()).toEqual(["idle", "busy"]);
  });

  it("uses a measurement if there is one", async () => {
    runtime.residentBytes.set("a", 5);
    await acquire("a", 15);
    await acquire("b", 5);
    expect(runtime.events.count("dispose a")).toBe(0);
    const third = acquire("c", 15);
    expect(await stateOf(third)).toBe("waiting");
    third.catch(() => undefined);
  });

  it("admits Cargos in order of arrival, even when a later one would fit", async () => {
    const first = await acquire("a", 15);
    const order: string[] = [];
    const big = acquire("b", 20).then((lease) => {
      order.push("b");
      return lease;
    });
    const small = acquire("c", 5).then((lease) => {
      order.push("c");
      return lease;
    });
    await settle();
    expect(order).toEqual([]);
    first.release();
    (await big).release();
    await small;
    expect(order).toEqual(["b", "c"]);
  });

  it("admits the next Cargo when the first in the queue gives up", async () => {
    await acquire("a", 15);
    const leaver = new AbortController();
    const big = acquire("b", 20, leaver.signal);
    const small = acquire("c", 5);
    expect(await stateOf(small)).toBe("waiting");
    leaver.abort(new Error("cancelled"));
    await expect(big).rejects.toThrow("cancelled");
    await small;
  });

  it("unloads nothing if that would not free enough", async () => {
    await acquire("a", 15);
    (await acquire("b", 5)).release();
    const big = acquire("c", 20);
    big.catch(() => undefined);
    expect(await stateOf(big)).toBe("waiting");
    expect(runtime.events.count("dispose b")).toBe(0);
  });

  it("refuses a Cargo that can never fit as retryable, before any download", async () => {
    const failing = pool.acquire(makeManifest({ model: MODEL, requiredRamBytes: RAM_BYTES + 1 }), NEVER);
    await expect(failing).rejects.toMatchObject({ code: "out_of_memory", retryable: true });
    expect(files.events.all).toEqual([]);
  });

  it("admits a Cargo that has waited long before new jobs of the Cargo that blocks it", async () => {
    const first = await acquire("a", 15);
    const other = acquire("b", 15);
    await settle();
    const early = await acquire("a", 15);
    clock.advance(10_000);
    const late = acquire("a", 15);
    first.release();
    early.release();
    (await other).release();
    (await late).release();
    expect(runtime.events.all.filter((event) => event.startsWith("loaded"))).toEqual([
      "loaded a",
      "loaded b",
      "loaded a",
    ]);
  });
});
