import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Executor } from "../../../island-agent/execution/executor.ts";
import type { Outbox } from "../../../island-agent/session/outbox.ts";
import { DiskFullError } from "../../../island-agent/disk/disk-full-error.ts";
import { type FromIsland, fromIslandSchema } from "../../../shared/protocol/from-island.ts";
import { settle } from "../../support/event-log.ts";
import type { FakeRuntime } from "../../support/models/fake-runtime.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { type FakeFiles, makeAssign, makeManifest } from "../builders.ts";
import { ExecutorWorld } from "./executor-world.ts";

let world: ExecutorWorld;
let runtime: FakeRuntime;
let files: FakeFiles;
let clock: ManualClock;
let outbox: Outbox;
let executor: Executor;
let sent: FromIsland[];

beforeEach(() => {
  world = new ExecutorWorld();
  ({ runtime, files, clock, outbox, executor, sent } = world);
});
afterEach(() => {
  expect(clock.pendingTimers, "timers left").toBe(0);
});

const typesOf = (jobId?: string): string[] => world.typesOf(jobId);
const cancel = (jobId: string, attempt = 1): void =>
  executor.cancel({ type: "cancel", jobId, attempt, reason: "cancelled" });

describe("Executor.assign()", () => {
  it("sends accepted, started, the output and finished", async () => {
    executor.assign(makeAssign({ script: { tokens: ["a", "b"], output: { n: 1 } } }), null);
    await executor.idle();
    expect(sent).toMatchObject([
      { type: "accepted", jobId: "job_1", attempt: 1 },
      { type: "started", jobId: "job_1", attempt: 1 },
      { type: "output", seq: 1, items: [{ content: "a" }, { content: "b" }] },
      { type: "finished", seq: 2, finishReason: "stop", output: { n: 1 }, usage: { completionTokens: 2 } },
    ]);
    expect(executor.counts).toEqual({ completed: 1, failed: 0, cancelled: 0, tokens: 2 });
  });

  it("refuses a job whose Cargo lacks disk space, with a code that older coordinators know, and records the reason", async () => {
    files.lack = new DiskFullError("The model needs 202 MiB on disk. 58 MiB are free");
    executor.assign(makeAssign(), null);
    const message = files.lack.message;
    const codes = { code: "model_unavailable", exactCode: "disk_full" };
    expect(sent).toEqual([{ type: "refused", jobId: "job_1", attempt: 1, ...codes, message }]);
    expect(fromIslandSchema.parse(sent[0])).toEqual(sent[0]);
    expect(executor.isIdle).toBe(true);
    expect(world.changes).toBe(1);
    expect(world.ended).toMatchObject([{ jobId: "job_1", runMs: 0, outcome: "failed", why: message }]);
  });

  it("accepts a job whose Cargo lacks disk space if an engine of the host serves it", async () => {
    files.lack = new DiskFullError("The model needs 202 MiB on disk. 58 MiB are free");
    world.isServed = true;
    executor.assign(makeAssign(), null);
    await executor.idle();
    expect(world.typesOf()).toEqual(["accepted", "started", "finished"]);
  });

  it("records why a run failed, without a message that could quote a prompt", async () => {
    executor.assign(makeAssign({ jobId: "job_1", script: { fail: { code: "disk_full", message: "full" } } }), null);
    await executor.idle();
    executor.assign(
      makeAssign({ jobId: "job_2", script: { fail: { code: "cargo_failed", message: "secret" } } }),
      null,
    );
    await executor.idle();
    expect(world.ended.map(({ why }) => why)).toEqual(["full", "cargo_failed"]);
  });

  it("passes the job's cache key to the runtime, and none for a job of an older coordinator", async () => {
    executor.assign({ ...makeAssign({ jobId: "job_1" }), cacheKey: "of an account" }, null);
    executor.assign(makeAssign({ jobId: "job_2" }), null);
    await executor.idle();
    expect(runtime.cacheKeys).toEqual(["of an account", undefined]);
  });

  it("sets the same number of timers for 1 token as for 100", async () => {
    const schedule = vi.spyOn(clock, "schedule");
    const timersOf = async (jobId: string, tokens: string[]): Promise<number> => {
      schedule.mockClear();
      executor.assign(makeAssign({ jobId, script: { tokens } }), null);
      await executor.idle();
      return schedule.mock.calls.length;
    };
    await timersOf("job_1", []);
    const ofOne = await timersOf("job_2", ["a"]);
    expect(
      await timersOf(
        "job_3",
        Array.from({ length: 100 }, () => "a"),
      ),
    ).toBe(ofOne);
  });

  it("measures load and run separately", async () => {
    runtime.heldLoads.add("a");
    executor.assign(makeAssign({ script: { tokens: ["a"], hold: true } }), null);
    await runtime.events.happened("held load a");
    clock.advance(70);
    runtime.go("load a");
    await runtime.events.happened("held run");
    clock.advance(30);
    runtime.go("run");
    await executor.idle();
    expect(sent.at(-1)).toMatchObject({ timings: { loadMs: 70, firstOutputMs: 0, runMs: 30 } });
  });

  it("refuses jobs while the Island drains, and keeps no state for them", () => {
    executor.assign(makeAssign(), "draining");
    expect(sent).toEqual([expect.objectContaining({ type: "refused", jobId: "job_1", code: "island_refused" })]);
    expect(outbox.isEmpty).toBe(true);
    expect(executor.isIdle).toBe(true);
  });

  it("ignores an attempt that it already has", async () => {
    executor.assign(makeAssign(), null);
    executor.assign(makeAssign(), null);
    await executor.idle();
    expect(runtime.events.count("begin run")).toBe(1);
    expect(typesOf()).toEqual(["accepted", "started", "finished"]);
  });

  it("keeps the attempt token for hello", () => {
    executor.assign(makeAssign({ claim: "secret" }), "draining");
    executor.assign(makeAssign({ claim: "secret" }), null);
    expect(outbox.held()).toEqual([{ jobId: "job_1", attempt: 1, claim: "secret", started: false }]);
    return executor.idle();
  });
});

describe("Executor slots", () => {
  it("limit concurrent runs, and start waiting runs in order", async () => {
    const names = ["one", "two", "three", "four"];
    for (const [index, name] of names.entries())
      executor.assign(makeAssign({ jobId: `job_${index}`, script: { name, hold: true } }), null);
    await runtime.events.happened("begin two");
    await settle();
    expect(runtime.events.count("begin three")).toBe(0);
    runtime.go("two");
    await runtime.events.happened("begin three");
    expect(runtime.events.count("begin four")).toBe(0);
    for (const name of names) runtime.go(name);
    await executor.idle();
    expect(runtime.mostRuns).toBe(2);
    expect(executor.counts.completed).toBe(4);
  });

  it("are released after each run with any outcome", async () => {
    const fail = { code: "model_invalid", message: "no" } as const;
    for (const [index, script] of [{}, { fail }, { bug: "x" }, {}, {}].entries()) {
      executor.assign(makeAssign({ jobId: `job_${index}`, script }), null);
      await executor.idle();
    }
    expect(executor.counts).toMatchObject({ completed: 3, failed: 2 });
  });

  it("are held by a dropped run until its work has stopped, and idle() waits for it", async () => {
    const stubborn = { hold: true, ignoreAbort: true };
    executor.assign(makeAssign({ jobId: "job_1", script: { ...stubborn, name: "one" } }), null);
    executor.assign(makeAssign({ jobId: "job_2", script: { ...stubborn, name: "two" } }), null);
    await runtime.events.happened("held two");
    const held = ["job_1", "job_2"].map((jobId) => ({ jobId, attempt: 1, action: "drop" as const }));
    executor.applyDecisions(held);
    outbox.connect((frame) => sent.push(frame), held);
    // The next attempt of the same job, assigned to this Island again.
    executor.assign(makeAssign({ jobId: "job_1", attempt: 2, script: { name: "again" } }), null);
    let isIdle = false;
    const idle = executor.idle().then(() => (isIdle = true));
    await settle();
    expect(runtime.events.count("begin again")).toBe(0);
    runtime.go("one");
    await runtime.events.happened("end again");
    await settle();
    expect(isIdle).toBe(false);
    runtime.go("two");
    await idle;
    expect(runtime.mostRuns).toBe(2);
    expect(typesOf()).toEqual(["accepted", "started", "accepted", "started", "finished"]);
    expect(executor.counts).toMatchObject({ completed: 1, cancelled: 2 });
  });

  it("go to the next in the queue when a waiting run is cancelled", async () => {
    for (const name of ["one", "two", "three", "four"])
      executor.assign(makeAssign({ jobId: name, script: { name, hold: name !== "four" } }), null);
    await runtime.events.happened("held two");
    cancel("three");
    await settle();
    expect(typesOf("three")).toEqual(["accepted", "cancelled"]);
    runtime.go("one");
    await runtime.events.happened("end four");
    runtime.go("two");
    await executor.idle();
    expect(runtime.events.count("begin three")).toBe(0);
  });
});

describe("Executor.cancel()", () => {
  it("ends the job without a load when called before it", async () => {
    executor.assign(makeAssign(), null);
    cancel("job_1");
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "cancelled"]);
    expect(runtime.events.all).toEqual([]);
  });

  it("stops the load of a loading Cargo", async () => {
    runtime.heldLoads.add("a");
    executor.assign(makeAssign(), null);
    await runtime.events.happened("held load a");
    cancel("job_1");
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "cancelled"]);
    await runtime.events.happened("load of a ended");
  });

  it("stops the download of the model", async () => {
    files.held.add("a");
    const model = { url: "https://files.example/a.gguf", sha256: null, sizeBytes: null };
    executor.assign(makeAssign({ cargo: makeManifest({ model }) }), null);
    await files.events.happened("fetch a");
    cancel("job_1");
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "cancelled"]);
    expect(files.events.all).toEqual(["fetch a"]);
  });

  it("reports the cancellation of a running job after its work has stopped", async () => {
    executor.assign(makeAssign({ script: { tokens: ["a"], hold: true, ignoreAbort: true } }), null);
    await runtime.events.happened("held run");
    cancel("job_1");
    await settle();
    expect(typesOf()).toEqual(["accepted", "started", "output"]);
    runtime.go("run");
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "started", "output", "cancelled"]);
    expect(executor.counts).toEqual({ completed: 0, failed: 0, cancelled: 1, tokens: 1 });
  });

  it("ignores another attempt", async () => {
    executor.assign(makeAssign({ attempt: 2, script: { hold: true } }), null);
    await runtime.events.happened("held run");
    cancel("job_1", 1);
    runtime.go("run");
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "started", "finished"]);
  });
});
