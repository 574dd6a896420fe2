import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CargoPool } from "../../../island-agent/execution/cargo-pool.ts";
import { Executor } from "../../../island-agent/execution/executor.ts";
import { Outbox } from "../../../island-agent/session/outbox.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { settle } from "../../support/event-log.ts";
import { FakeRuntime } from "../../support/fake-runtime.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FakeLog, FakeFiles, makeAssign, makeManifest } from "../builders.ts";

let runtime: FakeRuntime;
let files: FakeFiles;
let clock: ManualClock;
let log: FakeLog;
let outbox: Outbox;
let executor: Executor;
let sent: FromIsland[];

beforeEach(() => {
  runtime = new FakeRuntime();
  files = new FakeFiles();
  clock = new ManualClock();
  log = new FakeLog();
  outbox = new Outbox();
  sent = [];
  outbox.connect((frame) => sent.push(frame), []);
  const runtimes = new Map([["llmcpp" as const, runtime]]);
  const pool = new CargoPool({
    runtimes,
    files,
    clock,
    log,
    caps: { ramBytes: 1_000, vramBytes: 0 },
    freeRamBytes: () => null,
    onChange: () => undefined,
  });
  executor = new Executor({ outbox, pool, clock, log, slots: 2 });
});
afterEach(() => {
  expect(clock.pendingTimers, "timers left").toBe(0);
});

const typesOf = (jobId = "job_1"): string[] =>
  sent.flatMap((frame) => ("jobId" in frame && frame.jobId === jobId ? [frame.type] : []));
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
    expect(sent).toEqual([expect.objectContaining({ type: "refused", jobId: "job_1", code: "shutting_down" })]);
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

  it("while the Cargo loads ends the load", async () => {
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

describe("a failure", () => {
  it.each([true, false])(
    "of the runtime is told as it is (retryable %s) and logged as a warning",
    async (retryable) => {
      const fail = { code: "context_length_exceeded", message: "too long", retryable } as const;
      executor.assign(makeAssign({ script: { tokens: ["a"], fail } }), null);
      await executor.idle();
      expect(sent.at(-1)).toEqual({ type: "failed", jobId: "job_1", attempt: 1, seq: 2, ...fail });
      expect(log.events.all).toEqual(["info Cargo loaded", "warn Job failed"]);
      expect(executor.counts).toMatchObject({ completed: 0, failed: 1 });
    },
  );

  it("of the load is told before any start", async () => {
    runtime.loadFailures.set("a", [new JobFailure("model_invalid", "broken")]);
    executor.assign(makeAssign(), null);
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "failed"]);
    expect(sent.at(-1)).toMatchObject({ code: "model_invalid", message: "broken", retryable: false });
  });

  it.each(["cargo_failed", "invalid_input", "out_of_memory", "internal"] as const)(
    "whose message may quote (%s) is told to the coordinator and kept out of the log",
    async (code) => {
      const fail = { code, message: "cannot parse: secret prompt" } as const;
      executor.assign(makeAssign({ script: { fail } }), null);
      await executor.idle();
      expect(sent.at(-1)).toMatchObject({ type: "failed", ...fail });
      expect(log.facts.at(-1)).toMatchObject({ code });
      expect(JSON.stringify(log.facts)).not.toContain("secret prompt");
    },
  );

  it("that nobody foresaw does not leak, neither to the coordinator nor to the log", async () => {
    executor.assign(makeAssign({ script: { bug: "secret prompt" } }), null);
    await executor.idle();
    expect(sent.at(-1)).toMatchObject({ code: "internal", message: "The Island's agent failed", retryable: true });
    expect(log.events.all).toEqual(["info Cargo loaded", "warn A fault of the agent's own", "warn Job failed"]);
    expect(log.facts[1]).toMatchObject({
      fault: "TypeError",
      at: expect.arrayContaining([expect.stringMatching(/fake-runtime/)]),
    });
    expect(JSON.stringify([sent, log.facts])).not.toContain("secret prompt");
  });

  it("comes of output that cannot be sent, whose run is stopped", async () => {
    const items = [{ type: "token" as const, content: "x", count: -1 }];
    executor.assign(makeAssign({ script: { items, hold: true } }), null);
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "started", "failed"]);
    expect(sent.at(-1)).toMatchObject({ code: "internal", retryable: false });
    expect(runtime.events.count("end run")).toBe(1);
    expect(executor.counts).toMatchObject({ completed: 0, failed: 1 });
  });

  it("of a result that cannot be sent counts as one", async () => {
    executor.assign(makeAssign({ script: { output: "x".repeat(9_000_000) } }), null);
    await executor.idle();
    expect(sent.at(-1)).toMatchObject({ type: "failed", code: "output_too_large", retryable: false });
    expect(executor.counts).toMatchObject({ completed: 0, failed: 1 });
  });
});

describe("a Cargo that goes before its job begins", () => {
  it("is loaded again, and the job knows nothing of it", async () => {
    runtime.goneRuns = 2;
    executor.assign(makeAssign({ script: { tokens: ["a"] } }), null);
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "started", "output", "finished"]);
    expect(runtime.events.count("loaded a")).toBe(3);
  });

  it("gives the job back when it happens three times", async () => {
    runtime.goneRuns = 3;
    executor.assign(makeAssign({ script: { tokens: ["a"] } }), null);
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "started", "failed"]);
    expect(sent.at(-1)).toMatchObject({ code: "runtime_unavailable", retryable: true });
  });
});

describe("the run limit", () => {
  it("leaves the coordinator a margin of 5 s, then ends the run", async () => {
    executor.assign(makeAssign({ script: { hold: true }, runLimitMs: 1_000 }), null);
    await runtime.events.happened("held run");
    clock.advance(5_999);
    await settle();
    expect(typesOf()).toEqual(["accepted", "started"]);
    clock.advance(1);
    await executor.idle();
    expect(sent.at(-1)).toMatchObject({ type: "failed", code: "run_timeout", retryable: false });
  });

  it("does not count the load", async () => {
    runtime.heldLoads.add("a");
    executor.assign(makeAssign({ runLimitMs: 1_000 }), null);
    await runtime.events.happened("held load a");
    clock.advance(60_000);
    runtime.go("load a");
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "started", "finished"]);
  });
});

describe("giveUp()", () => {
  it("gives running and waiting jobs back, retryable", async () => {
    for (const name of ["one", "two", "three"])
      executor.assign(makeAssign({ jobId: name, script: { name, hold: true } }), null);
    await runtime.events.happened("held two");
    executor.giveUp();
    await executor.idle();
    const ends = sent.filter(({ type }) => type === "failed");
    expect(ends).toMatchObject(Array.from({ length: 3 }, () => ({ code: "shutting_down", retryable: true })));
    expect(executor.running()).toEqual([]);
  });
});

describe("running()", () => {
  it("names each job in hand and for how long", async () => {
    executor.assign(makeAssign({ script: { hold: true } }), null);
    await runtime.events.happened("held run");
    clock.advance(1_500);
    expect(executor.running()).toEqual([{ jobId: "job_1", slug: "a", type: "llmcpp", forMs: 1_500 }]);
    runtime.go("run");
    await executor.idle();
  });
});
