import { describe, expect, it } from "vitest";
import { CargoPool } from "../../../island-agent/execution/cargo-pool.ts";
import { CargoGone, type LoadedCargo } from "../../../island-agent/runtimes/runtime.ts";
import { FakeRuntime } from "../../support/models/fake-runtime.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FakeFiles, FakeLog, makeManifest, NEVER } from "../builders.ts";
import { CAPS, stateOf } from "./pool-world.ts";

/** A pool with an engine that serves every Cargo while `isThere`. */
class EnginePool implements AsyncDisposable {
  readonly runtime = new FakeRuntime();
  readonly clock = new ManualClock();
  readonly log = new FakeLog();
  isThere = true;
  freeRamBytes: number | null = 0;
  #end = Promise.withResolvers<void>();
  readonly pool = new CargoPool({
    runtimes: new Map([["llmcpp" as const, this.runtime]]),
    files: new FakeFiles(),
    engines: { load: () => (this.isThere ? this.#cargo() : null) },
    clock: this.clock,
    log: this.log,
    caps: CAPS,
    freeRamBytes: () => this.freeRamBytes,
    onChange: () => undefined,
  });

  leave(): void {
    this.isThere = false;
    this.#end.resolve();
    this.#end = Promise.withResolvers();
  }

  #cargo(): LoadedCargo {
    let isGone = false;
    const gone = this.#end.promise.then(() => void (isGone = true));
    return {
      memory: { ramBytes: 0, vramBytes: 0 },
      concurrency: 1,
      gone,
      run: () =>
        isGone
          ? Promise.reject(new CargoGone())
          : Promise.resolve({ finishReason: "stop", usage: { promptTokens: 1, completionTokens: 1 } }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.pool.close();
  }
}

const LARGE = makeManifest({ slug: "large", requiredRamBytes: CAPS.ramBytes * 100 });
const MIDDLE = makeManifest({ slug: "middle", requiredRamBytes: CAPS.ramBytes });
const SMALL = makeManifest({ slug: "small", requiredRamBytes: 0 });

describe("a pool with an engine", () => {
  it("runs a Cargo on it that the Island's memory could not hold", async () => {
    await using world = new EnginePool();
    const { cargo } = await world.pool.acquire(LARGE, NEVER);
    expect(world.pool.loaded()).toEqual([{ slug: "large", users: 1, ramBytes: 0, vramBytes: 0 }]);
    await expect(cargo.run({ input: {}, resume: null }, () => undefined, NEVER)).resolves.toBeDefined();
    expect(world.runtime.events.all).toEqual([]);
  });

  it("uses the runtime for the next job once the engine has gone", async () => {
    await using world = new EnginePool();
    const lease = await world.pool.acquire(SMALL, NEVER);
    world.leave();
    await expect.poll(() => world.pool.loaded()).toEqual([]);
    await expect(lease.cargo.run({ input: {}, resume: null }, () => undefined, NEVER)).rejects.toBeInstanceOf(
      CargoGone,
    );
    lease.release();
    await world.pool.acquire(SMALL, NEVER);
    expect(world.runtime.events.all).toContain("load small");
  });

  it("refuses the next job once the engine has gone, if the Cargo is too large", async () => {
    await using world = new EnginePool();
    (await world.pool.acquire(LARGE, NEVER)).release();
    world.leave();
    await expect.poll(() => world.pool.loaded()).toEqual([]);
    await expect(world.pool.acquire(LARGE, NEVER)).rejects.toMatchObject({ code: "out_of_memory" });
  });

  it("estimates a Cargo's memory after an engine has run it", async () => {
    await using world = new EnginePool();
    world.freeRamBytes = null;
    (await world.pool.acquire(MIDDLE, NEVER)).release();
    world.leave();
    await expect.poll(() => world.pool.loaded()).toEqual([]);
    await world.pool.acquire(MIDDLE, NEVER);
    expect(world.runtime.estimated).toEqual(["middle"]);
  });

  it("gives an engine new jobs while a Cargo waits long for the Island's memory", async () => {
    await using world = new EnginePool();
    world.freeRamBytes = null;
    const served = await world.pool.acquire(SMALL, NEVER);
    world.isThere = false;
    const first = await world.pool.acquire(MIDDLE, NEVER);
    const waiting = world.pool.acquire({ ...MIDDLE, slug: "other" }, NEVER);
    expect(await stateOf(waiting)).toBe("waiting");
    world.clock.advance(10_000);
    const again = world.pool.acquire(SMALL, NEVER);
    expect(await stateOf(again)).not.toBe("waiting");
    for (const lease of [served, first]) lease.release();
    await waiting;
  });

  it("uses an engine that appears for the next load, not for a Cargo that its runtime has loaded", async () => {
    await using world = new EnginePool();
    world.isThere = false;
    (await world.pool.acquire(SMALL, NEVER)).release();
    world.isThere = true;
    (await world.pool.acquire(SMALL, NEVER)).release();
    expect(world.runtime.events.all.filter((event) => event === "load small")).toHaveLength(1);
    await world.pool.unloadIdle(() => true);
    (await world.pool.acquire(SMALL, NEVER)).release();
    expect(world.runtime.events.all.filter((event) => event === "load small")).toHaveLength(1);
  });
});
