import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Executor } from "../../../island-agent/execution/executor.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { settle } from "../../support/event-log.ts";
import type { FakeRuntime } from "../../support/models/fake-runtime.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { type FakeLog, makeAssign } from "../builders.ts";
import { ExecutorWorld } from "./executor-world.ts";

let world: ExecutorWorld;
let runtime: FakeRuntime;
let clock: ManualClock;
let log: FakeLog;
let executor: Executor;
let sent: FromIsland[];

beforeEach(() => {
  world = new ExecutorWorld();
  ({ runtime, clock, log, executor, sent } = world);
});
afterEach(() => {
  expect(clock.pendingTimers, "timers left").toBe(0);
});

const typesOf = (jobId?: string): string[] => world.typesOf(jobId);

describe("Executor on a failure", () => {
  it.each([true, false])(
    "reports a runtime's failure unchanged (retryable %s) and logs it as a warning",
    async (retryable) => {
      const fail = { code: "context_length_exceeded", message: "too long", retryable } as const;
      executor.assign(makeAssign({ script: { tokens: ["a"], fail } }), null);
      await executor.idle();
      expect(sent.at(-1)).toEqual({ type: "failed", jobId: "job_1", attempt: 1, seq: 2, ...fail });
      expect(log.events.all).toEqual(["info Loading Cargo", "info Cargo loaded", "warn Job failed"]);
      expect(executor.counts).toMatchObject({ completed: 0, failed: 1 });
    },
  );

  it("reports a failed load without a start", async () => {
    runtime.loadFailures.set("a", [new JobFailure("model_invalid", "broken")]);
    executor.assign(makeAssign(), null);
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "failed"]);
    expect(sent.at(-1)).toMatchObject({ code: "model_invalid", message: "broken", retryable: false });
  });

  it.each(["cargo_failed", "invalid_input", "out_of_memory", "internal"] as const)(
    "sends a message that may quote the input (%s) to the coordinator and keeps it out of the log",
    async (code) => {
      const fail = { code, message: "cannot parse: secret prompt" } as const;
      executor.assign(makeAssign({ script: { fail } }), null);
      await executor.idle();
      expect(sent.at(-1)).toMatchObject({ type: "failed", ...fail });
      expect(log.facts.at(-1)).toMatchObject({ code });
      expect(JSON.stringify(log.facts)).not.toContain("secret prompt");
    },
  );

  it("keeps the message of an unexpected error from the coordinator and the log", async () => {
    executor.assign(makeAssign({ script: { bug: "secret prompt" } }), null);
    await executor.idle();
    expect(sent.at(-1)).toMatchObject({
      code: "internal",
      message: "The Island agent failed with an internal error",
      retryable: true,
    });
    expect(log.events.all).toEqual([
      "info Loading Cargo",
      "info Cargo loaded",
      "warn Internal error of the agent",
      "warn Job failed",
    ]);
    expect(log.facts[2]).toMatchObject({
      fault: "TypeError",
      at: expect.arrayContaining([expect.stringMatching(/fake-runtime/)]),
    });
    expect(JSON.stringify([sent, log.facts])).not.toContain("secret prompt");
  });

  it("fails and stops a run whose output cannot be sent", async () => {
    const items = [{ type: "token" as const, content: "x", count: -1 }];
    executor.assign(makeAssign({ script: { items, hold: true } }), null);
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "started", "failed"]);
    expect(sent.at(-1)).toMatchObject({ code: "internal", retryable: false });
    expect(runtime.events.count("end run")).toBe(1);
    expect(executor.counts).toMatchObject({ completed: 0, failed: 1 });
  });

  it("counts a result that cannot be sent as a failure", async () => {
    executor.assign(makeAssign({ script: { output: "x".repeat(9_000_000) } }), null);
    await executor.idle();
    expect(sent.at(-1)).toMatchObject({ type: "failed", code: "output_too_large", retryable: false });
    expect(executor.counts).toMatchObject({ completed: 0, failed: 1 });
  });
});

describe("Executor with a Cargo that is gone before the run starts", () => {
  it("loads the Cargo again and completes the job", async () => {
    runtime.goneRuns = 2;
    executor.assign(makeAssign({ script: { tokens: ["a"] } }), null);
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "started", "output", "finished"]);
    expect(runtime.events.count("loaded a")).toBe(3);
  });

  it("returns the job to the coordinator after the third time", async () => {
    runtime.goneRuns = 3;
    executor.assign(makeAssign({ script: { tokens: ["a"] } }), null);
    await executor.idle();
    expect(typesOf()).toEqual(["accepted", "started", "failed"]);
    expect(sent.at(-1)).toMatchObject({ code: "runtime_unavailable", retryable: true });
  });
});

describe("Executor's run limit", () => {
  it("ends the run 5 s after the coordinator's limit", async () => {
    executor.assign(makeAssign({ script: { hold: true }, runLimitMs: 1_000 }), null);
    await runtime.events.happened("held run");
    clock.advance(5_999);
    await settle();
    expect(typesOf()).toEqual(["accepted", "started"]);
    clock.advance(1);
    await executor.idle();
    expect(sent.at(-1)).toMatchObject({ type: "failed", code: "run_timeout", retryable: false });
  });

  it("does not include the load", async () => {
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
  it("returns running and waiting jobs to the coordinator as retryable", async () => {
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
  it("lists each job with its duration", async () => {
    executor.assign(makeAssign({ script: { hold: true } }), null);
    await runtime.events.happened("held run");
    clock.advance(1_500);
    expect(executor.running()).toEqual([{ jobId: "job_1", slug: "a", type: "llmcpp", forMs: 1_500 }]);
    runtime.go("run");
    await executor.idle();
  });
});
