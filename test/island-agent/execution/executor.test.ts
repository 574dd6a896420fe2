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

describe("assign()", () => {
  it("runs a job: accepted, started, its output, finished", async () => {
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

  it("refuses a job whose Cargo lacks disk space, by a code that older coordinators know too, and keeps why", async () => {
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

  it("keeps why a run failed, without a message that could quote a prompt", async () => {
    executor.assign(makeAssign({ jobId: "job_1", script: { fail: { code: "disk_full", message: "full" } } }), null);
    await executor.idle();
    executor.assign(
      makeAssign({ jobId: "job_2", script: { fail: { code: "cargo_failed", message: "secret" } } }),
      null,
    );
    await executor.idle();
    expect(world.ended.map(({ why }) => why)).toEqual(["full", "cargo_failed"]);
  });

  it("gives the runtime the job's cache key; none of an older coordinator's job", async () => {
    executor.assign({ ...makeAssign({ jobId: "job_1" }), cacheKey: "of an account" }, null);
    executor.assign(makeAssign({ jobId: "job_2" }), null);
    await executor.idle();
    expect(runtime.cacheKeys).toEqual(["of an account", undefined]);
  });

  it("sets the same timers for a job of one token and one of a hundred", async () => {
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

  it("measures load and run apart", async () => {
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

  it("refuses while the Island drains, and keeps nothing of the job", () => {
    executor.assign(makeAssign(), "draining");
    expect(sent).toEqual([expect.objectContaining({ type: "refused", jobId: "job_1", code: "island_refused" })]);
    expect(outbox.isEmpty).toBe(true);
    expect(executor.isIdle).toBe(true);
  });

  it("ignores an attempt that it has already", async () => {
    executor.assign(makeAssign(), null);
    executor.assign(makeAssign(), null);
    await executor.idle();
    expect(runtime.events.count("begin run")).toBe(1);
    expect(typesOf()).toEqual(["accepted", "started", "finished"]);
  });

  it("keeps the attempt's claim for hello", () => {
    executor.assign(makeAssign({ claim: "secret" }), "draining");
    executor.assign(makeAssign({ claim: "secret" }), null);
    expect(outbox.held()).toEqual([{ jobId: "job_1", attempt: 1, claim: "secret", started: false }]);
    return executor.idle();
  });
});

describe("slots", () => {
  it("hold at most as many runs as there are, and later ones begin in their order", async () => {
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

  it("are free again after each run, however it ended", async () => {
    const fail = { code: "model_invalid", message: "no" } as const;
    for (const [index, script] of [{}, { fail }, { bug: "x" }, {}, {}].entries()) {
      executor.assign(makeAssign({ jobId: `job_${index}`, script }), null);
      await executor.idle();
    }
    expect(executor.counts).toMatchObject({ completed: 3, failed: 2 });
  });

  it("are taken by a dropped run until its work has stopped, and idle() waits for that", async () => {
    const stubborn = { hold: true, ignoreAbort: true };
    executor.assign(makeAssign({ jobId: "job_1", script: { ...stubborn, name: "one" } }), null);
    executor.assign(makeAssign({ jobId: "job_2", script: { ...stubborn, name: "two" } }), null);
    await runtime.events.happened("held two");
    const held = ["job_1", "job_2"].map((jobId) => ({ jobId, attempt: 1, action: "drop" as const }));
    executor.applyDecisions(held);
    outbox.connect((frame) => sent.push(frame), held);
    // The next attempt of one of them, given to this very Island.
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

  it("go to the next in line when one that waits is cancelled", async () => {
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

describe("cancel()", () => {
  it("before the load ends the job without one", async () => {
    executor.assign(makeAssign(), null);
    cancel("job_1");
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "cancelled"]);
    expect(runtime.events.all).toEqual([]);
  });

  it("while the Loading Cargo ends the load", async () => {
    runtime.heldLoads.add("a");
    executor.assign(makeAssign(), null);
    await runtime.events.happened("held load a");
    cancel("job_1");
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "cancelled"]);
    await runtime.events.happened("load of a ended");
  });

  it("while the model is fetched ends the download", async () => {
    files.held.add("a");
    const model = { url: "https://files.example/a.gguf", sha256: null, sizeBytes: null };
    executor.assign(makeAssign({ cargo: makeManifest({ model }) }), null);
    await files.events.happened("fetch a");
    cancel("job_1");
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "cancelled"]);
    expect(files.events.all).toEqual(["fetch a"]);
  });

  it("while it runs says so after the work has stopped", async () => {
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

  it("of another attempt changes nothing", async () => {
    executor.assign(makeAssign({ attempt: 2, script: { hold: true } }), null);
    await runtime.events.happened("held run");
    cancel("job_1", 1);
    runtime.go("run");
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "started", "finished"]);
  });
});
