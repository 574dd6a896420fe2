import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CargoPool } from "../../../island-agent/execution/cargo-pool.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { settle } from "../../support/event-log.ts";
import type { FakeRuntime } from "../../support/models/fake-runtime.ts";
import { type FakeFiles, makeManifest, NEVER } from "../builders.ts";
import { MODEL, PoolWorld, RAM_BYTES, stateOf } from "./pool-world.ts";

let world: PoolWorld;
let runtime: FakeRuntime;
let files: FakeFiles;
let pool: CargoPool;

beforeEach(() => {
  world = new PoolWorld();
  ({ runtime, files, pool } = world);
});
afterEach(() => world[Symbol.asyncDispose]());

const acquire: PoolWorld["acquire"] = (...parameters) => world.acquire(...parameters);
const slugs = (): string[] => world.slugs();

describe("CargoPool.acquire()", () => {
  it("loads a Cargo once for all callers, including those that ask during the load", async () => {
    runtime.heldLoads.add("a");
    const both = Promise.all([acquire("a"), acquire("a")]);
    await runtime.events.happened("held load a");
    expect([world.pool.loading(), slugs()]).toEqual([["a"], []]);
    runtime.go("load a");
    const [first, second] = await both;
    expect([world.pool.loading(), slugs()]).toEqual([[], ["a"]]);
    const third = await acquire("a");
    expect(first.cargo).toBe(second.cargo);
    expect(third.cargo).toBe(first.cargo);
    expect(runtime.events.count("load a")).toBe(1);
    expect(slugs()).toEqual(["a"]);
  });

  it("continues a load when one of two waiting jobs is aborted", async () => {
    runtime.heldLoads.add("a");
    const leaver = new AbortController();
    const leaving = acquire("a", 10, leaver.signal);
    const staying = acquire("a");
    await runtime.events.happened("held load a");
    leaver.abort(new Error("cancelled"));
    await expect(leaving).rejects.toThrow("cancelled");
    runtime.go("load a");
    await staying;
    expect(runtime.events.all).toEqual(["load a", "held load a", "loaded a"]);
  });

  it("stops a load when the last waiting job is aborted, and starts a new one for the next job", async () => {
    runtime.heldLoads.add("a");
    const leaver = new AbortController();
    const leaving = acquire("a", 10, leaver.signal);
    await runtime.events.happened("held load a");
    leaver.abort(new Error("cancelled"));
    await expect(leaving).rejects.toThrow("cancelled");
    await runtime.events.happened("load of a ended");
    runtime.go("load a");
    await acquire("a");
    expect(runtime.events.count("load a")).toBe(2);
  });

  it("stops a download when the last waiting job is aborted, and does not load", async () => {
    files.held.add("a");
    const leaver = new AbortController();
    const leaving = pool.acquire(makeManifest({ model: MODEL }), leaver.signal);
    await files.events.happened("fetch a");
    leaver.abort(new Error("cancelled"));
    await expect(leaving).rejects.toThrow("cancelled");
    await settle();
    expect(runtime.events.all).toEqual([]);
    expect(files.events.all).toEqual(["fetch a"]);
  });

  it("does nothing when the signal is already aborted", async () => {
    await expect(acquire("a", 10, AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
    expect(runtime.events.all).toEqual([]);
  });

  it("releases model and memory after a failed load, and tries again for the next job", async () => {
    runtime.loadFailures.set("a", [new JobFailure("model_invalid", "no")]);
    const manifest = makeManifest({ model: MODEL, requiredRamBytes: RAM_BYTES });
    await expect(pool.acquire(manifest, NEVER)).rejects.toThrow(new JobFailure("model_invalid", "no"));
    await settle();
    expect(files.events.all).toEqual(["fetch a", "lease a", "release a"]);
    await pool.acquire(manifest, NEVER);
    expect(runtime.events.count("load a")).toBe(2);
  });

  it("refuses a runtime type that this Island does not offer, as retryable", async () => {
    const failing = pool.acquire(makeManifest({ runtimeType: "onnx" }), NEVER);
    await expect(failing).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
  });

  it("loads a Cargo whose process has ended again", async () => {
    const first = await acquire("a", RAM_BYTES);
    runtime.crash("a");
    await runtime.events.happened("disposed a");
    expect(slugs()).toEqual([]);
    const second = await acquire("a", RAM_BYTES);
    expect(second.cargo).not.toBe(first.cargo);
    expect(runtime.events.count("load a")).toBe(2);
  });

  it("calls onChange at the start and end of each load, and at each unload", async () => {
    (await acquire("a")).release();
    expect(world.changes).toBe(2);
    runtime.crash("a");
    await settle();
    expect(world.changes).toBe(3);
  });
});

describe("CargoPool.close()", () => {
  it("unloads all Cargos and waits until all memory is free", async () => {
    runtime.heldDisposals.add("a");
    runtime.heldLoads.add("b");
    await acquire("a");
    const loading = acquire("b");
    await runtime.events.happened("held load b");
    const closing = pool.close();
    await expect(loading).rejects.toMatchObject({ code: "shutting_down", retryable: true });
    expect(await stateOf(closing)).toBe("waiting");
    runtime.go("dispose a");
    await closing;
    expect(runtime.events.all.slice(-1)).toEqual(["disposed a"]);
    expect(runtime.events.count("load of b ended")).toBe(1);
    await expect(acquire("a")).rejects.toMatchObject({ code: "shutting_down" });
  });
});
