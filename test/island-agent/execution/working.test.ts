import { beforeEach, describe, expect, it } from "vitest";
import { settle } from "../../support/event-log.ts";
import { makeAssign, makeManifest } from "../builders.ts";
import { ExecutorWorld } from "./executor-world.ts";

const MODEL = { url: "https://files.example/a.gguf", sha256: null, sizeBytes: null };
const assign = makeAssign({ cargo: makeManifest({ model: MODEL }), input: { hold: true } });

let world: ExecutorWorld;
beforeEach(() => {
  world = new ExecutorWorld();
});

/** Returns the attempts that the next heartbeat would report. */
const count = (): number | undefined => world.executor.working()[0]?.count;

describe("Executor.working()", () => {
  it("changes with each step of the download, not with time", async () => {
    const { files, clock, executor } = world;
    files.held.add("a");
    executor.assign(assign, null);
    await files.events.happened("fetch a");
    const before = count();
    clock.advance(3_600_000);
    expect(count()).toBe(before);
    files.progress();
    expect(count()).not.toBe(before);
    executor.giveUp();
    await executor.idle();
  });

  it("changes with time during the load, which has its own limit", async () => {
    const { runtime, clock, executor } = world;
    runtime.heldLoads.add("a");
    executor.assign(assign, null);
    await runtime.events.happened("held load a");
    const before = count();
    clock.advance(10_000);
    expect(count()).not.toBe(before);
    executor.giveUp();
    await executor.idle();
  });

  it("changes with the work of the run, not with time", async () => {
    const { runtime, clock, executor } = world;
    executor.assign(assign, null);
    await runtime.events.happened("held run");
    const before = count();
    clock.advance(250_000);
    await settle();
    expect(count()).toBe(before);
    runtime.work();
    expect(count()).not.toBe(before);
    runtime.go("run");
    await executor.idle();
    expect(executor.working()).toEqual([]);
  });
});
