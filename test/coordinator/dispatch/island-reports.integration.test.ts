import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mayBeRequestedEmpty } from "../../../coordinator/dispatch/result-faults.ts";
import { openSqliteStore, type SqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";
import { GRACE_MS, JobWorld } from "../jobs/job-world.ts";
import { PlayedIsland } from "../jobs/played-island.ts";
import { ScriptedAgent } from "../jobs/scripted-agent.ts";
import { beginFrames, outputFrame } from "../../support/network/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";

let folder: ReturnType<typeof temporaryFolder>;
let store: SqliteStore;
let clock: ManualClock;
let world: JobWorld;
let agent: ScriptedAgent;
let accountId: string;

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new ManualClock();
  store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
  accountId = await makeAccount(store, { grantMicro: 1_000_000_000 });
  world = new JobWorld(store, clock);
  agent = new ScriptedAgent(world, accountId);
  await agent.connect(false);
});
afterEach(async () => {
  await world.settle();
  expect(world.fatal).toEqual([]);
  world.close();
  await store.close();
  folder[Symbol.dispose]();
});

describe("the measurement of a run", () => {
  it("passes the delivered tokens to the scheduler before the slot is free", async () => {
    await world.jobs.submit({ accountId, slug: "cheap", input: { prompt: "Hi" }, priority: 0, idempotency: null });
    await agent.act("start", 0);
    await agent.act("output", 0);
    clock.advance(500);
    await agent.act("finish", 0);
    expect(world.measured).toMatchObject([{ slug: "cheap", succeeded: true, tokens: { output: 4 } }]);
  });

  it("counts an empty result as a failure", async () => {
    await world.jobs.submit({ accountId, slug: "cheap", input: { prompt: "Hi" }, priority: 0, idempotency: null });
    await agent.act("start", 0);
    await agent.act("empty", 0);
    expect(world.measured).toMatchObject([{ slug: "cheap", succeeded: false, tokens: null }]);
  });

  it.each([
    ["stops jobs to the Island", {}, null],
    ["does not stop jobs if the stop sequence may have come first", { stop: ["END"] }, "job"],
  ])("%s after an empty result", async (_, more, given) => {
    const request = { accountId, slug: "cheap", input: { prompt: "Hi", ...more }, priority: 0, idempotency: null };
    const first = await world.jobs.submit(request);
    await agent.act("start", 0);
    await agent.act("empty", 0);
    expect(await world.jobs.get(accountId, first.record.id)).toMatchObject({ state: "completed", output: "" });
    const { record } = await world.jobs.submit(request);
    await world.settle();
    const { islandId } = (await world.jobs.get(accountId, record.id)) ?? expect.fail();
    expect(islandId === null ? null : "job").toBe(given);
  });
});

it("the first output of each attempt reaches the scheduler once, and empty tokens do not count", async () => {
  agent.lose();
  const seen: string[] = [];
  const { scheduler } = world.core;
  const step = scheduler.step.bind(scheduler);
  scheduler.step = (event, nowMs) => {
    if (event.kind === "first_output") seen.push(event.islandId);
    return step(event, nowMs);
  };
  const first = await PlayedIsland.join(world, accountId);
  await world.jobs.submit({ accountId, slug: "cheap", input: { prompt: "Hi" }, priority: 0, idempotency: null });
  await world.settle();
  await first.say(...beginFrames(first.assign), outputFrame(first.assign, 1, "a"), outputFrame(first.assign, 2, "b"));
  expect(seen).toEqual([first.hostId]);

  first.lose();
  clock.advance(GRACE_MS);
  const second = await PlayedIsland.join(world, accountId);
  await world.settle();
  await second.say(...beginFrames(second.assign), outputFrame(second.assign, 1, ""));
  expect(seen).toEqual([first.hostId]);
  await second.say(outputFrame(second.assign, 2, "c"), outputFrame(second.assign, 3, "d"));
  expect(seen).toEqual([first.hostId, second.hostId]);
});

describe("mayBeRequestedEmpty()", () => {
  const chat = { stopBytes: 0, toolUse: null };
  const withTools = { stopBytes: 0, toolUse: { tools: [], isRequired: true, maxCalls: 1 } };

  it.each([
    [{ ...chat, stopBytes: 3 }, "stop", true],
    [{ ...chat, stopBytes: 3 }, "length", false],
    [withTools, "length", true],
    [withTools, "stop", false],
    [chat, "stop", false],
    [null, "length", false],
  ] as const)(
    "returns whether the answer may have ended before any text (case %#)",
    (traits, finishReason, expected) => {
      expect(mayBeRequestedEmpty(traits, { finishReason })).toBe(expected);
    },
  );
});

describe("a failure that an Island reports as final", () => {
  it("ends the job if no other Island confirms it within the wait limit", async () => {
    const other = new ScriptedAgent(world, accountId);
    const request = { accountId, slug: "cheap", input: { prompt: "Hi" }, priority: 0, idempotency: null };
    const { record } = await world.jobs.submit(request);
    await agent.act("start", 0);
    await other.connect(false);
    await agent.act("fail", 0);
    // The other Island has the job now, and both Islands are lost.
    agent.lose();
    other.lose();
    clock.advance(GRACE_MS);
    await world.settle();
    expect(await world.jobs.get(accountId, record.id)).toMatchObject({ state: "pending", attempt: 2 });
    clock.advance(3_600_000);
    await world.settle();
    const error = { code: "invalid_input", retryable: false };
    expect(await world.jobs.get(accountId, record.id)).toMatchObject({ state: "failed", error });
  });
});
