import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CargoPool } from "../../../island-agent/execution/cargo-pool.ts";
import { settle } from "../../support/event-log.ts";
import type { FakeRuntime } from "../../support/models/fake-runtime.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { type FakeFiles, type FakeLog, makeManifest, NEVER } from "../builders.ts";
import { PoolWorld, stateOf } from "./pool-world.ts";
import { NO_ENGINES } from "../no-engines.ts";

let world: PoolWorld;
let log: FakeLog;
let runtime: FakeRuntime;
let files: FakeFiles;
let clock: ManualClock;
let pool: CargoPool;

beforeEach(() => {
  world = new PoolWorld();
  ({ log, runtime, files, clock, pool } = world);
});
afterEach(() => world[Symbol.asyncDispose]());

const acquire: PoolWorld["acquire"] = (...parameters) => world.acquire(...parameters);
const slugs = (): string[] => world.slugs();

describe("CargoPool when other programs use RAM", () => {
  it("unloads idle Cargos, one at a time, until the load fits", async () => {
    for (const slug of ["a", "b", "c"]) (await acquire(slug, 4)).release();
    world.freeRamBytes = 2;
    runtime.heldDisposals.add("a");
    const loading = acquire("d", 6);
    await runtime.events.happened("dispose a");
    expect(await stateOf(loading)).toBe("waiting");
    world.freeRamBytes = 6;
    runtime.go("dispose a");
    await loading;
    expect(slugs()).toEqual(["b", "c", "d"]);
  });

  it("requires RAM for only the first container of a Cargo", async () => {
    const container = { image: "docker.io/library/a:1", digest: null, command: null, gpu: false, network: false };
    runtime.estimates.set("a", { ramBytes: 16, vramBytes: 0 });
    world.freeRamBytes = 5;
    await pool.acquire(makeManifest({ slug: "a", container, requiredRamBytes: 4 }), NEVER);
    expect(slugs()).toEqual(["a"]);
  });

  it("refuses a load as retryable, with the sizes, when no idle Cargo is left", async () => {
    await acquire("busy", 5);
    (await acquire("idle", 5)).release();
    world.freeRamBytes = 9;
    await expect(acquire("other", 10)).rejects.toMatchObject({
      code: "out_of_memory",
      retryable: true,
      message: "other needs 1 MiB of RAM, but only 0 MiB are free now",
    });
    expect(slugs()).toEqual(["busy"]);
    expect(runtime.events.count("load other")).toBe(0);
    world.freeRamBytes = 10;
    await acquire("other", 10);
  });
});

describe("CargoPool's RAM ceiling of a process", () => {
  const GIB = 1_073_741_824;

  it.each([
    ["the estimate plus 1 GiB for a small Cargo", 0.5 * GIB, 1.5 * GIB],
    ["twice the estimate", 2 * GIB, 4 * GIB],
    ["at most the owner's cap", 6 * GIB, 8 * GIB],
  ])("is %s, and does not grow with the jobs' memory use", async (_name, estimateBytes, ceilingBytes) => {
    const runtimes = new Map([["llmcpp" as const, runtime]]);
    const caps = { ramBytes: 8 * GIB, vramBytes: 0 };
    await using stack = new AsyncDisposableStack();
    const roomy = stack.adopt(
      new CargoPool({
        runtimes,
        files,
        engines: NO_ENGINES,
        clock,
        log,
        caps,
        freeRamBytes: () => null,
        onChange: () => {},
      }),
      (each) => each.close(),
    );
    runtime.estimates.set("a", { ramBytes: estimateBytes, vramBytes: 0 });
    runtime.residentBytes.set("a", 7 * GIB);
    const manifest = makeManifest({ slug: "a", requiredRamBytes: 0 });
    (await roomy.acquire(manifest, NEVER)).release();
    runtime.crash("a");
    await runtime.events.happened("disposed a");
    await settle();
    (await roomy.acquire(manifest, NEVER)).release();
    expect(runtime.ceilings).toEqual([ceilingBytes, ceilingBytes]);
    runtime.mostBytes = 0;
  });
});
