import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { SHORT_JOB_MS } from "../../../coordinator/jobs/job-registry.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FIRST_PAUSE_MS, GRACE_MS, JobWorld, PHASE_LIMITS, RESTART_GRACE_MS } from "../jobs/job-world.ts";
import { GRANT_MICRO, openJobWorld, type OpenedJobWorld } from "../jobs/open-job-world.ts";
import { PlayedIsland } from "../jobs/played-island.ts";
import { balanceOf } from "../store/contract/store-builders.ts";

const JSON_ANSWER = { prompt: "Hi", max_tokens: 10, response_format: { type: "json_object" } };

let opened: OpenedJobWorld;
let clock: ManualClock;
let world: JobWorld;
let accountId: string;

beforeEach(async () => {
  clock = new ManualClock();
  opened = await openJobWorld(clock);
  ({ world, accountId } = opened);
});
afterEach(() => opened.close(world));

/** Kills the coordinator and starts it again. */
async function restart(): Promise<void> {
  await world.settle();
  world.close();
  world = new JobWorld(opened.store, clock, world.secret);
  await world.recover();
}

async function submit(input: Record<string, unknown> = { prompt: "Hi" }, more = {}): Promise<string> {
  const request = { accountId, slug: "cheap", input, priority: 0, idempotency: null, ...more };
  const submitted = world.jobs.submit(request);
  await world.settle();
  // A chat is stored once it has output, or after this time.
  clock.advance(SHORT_JOB_MS);
  const { record } = await submitted;
  await world.settle();
  return record.id;
}

/** Returns a job that an Island has started, with the first part of its answer. */
async function begin(
  input?: Record<string, unknown>,
  more?: object,
  text = "one ",
): Promise<{ island: PlayedIsland; assign: Assign }> {
  const island = await PlayedIsland.join(world, accountId);
  await submit(input, more);
  const { assign } = island;
  await island.say(...beginFrames(assign), outputFrame(assign, 1, text));
  return { island, assign };
}

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await world.settle();
}

const view = ({ jobId }: Assign) => world.jobs.get(accountId, jobId);
const actions = (island: PlayedIsland) => island.last("welcome")?.held.map(({ action }) => action);

describe("an Island that returns with an attempt after the grace period", () => {
  it("keeps the attempt if no other attempt has started", async () => {
    const { island, assign } = await begin();
    island.lose();
    await pass(2 * GRACE_MS);
    expect((await view(assign)).state).toBe("pending");
    await island.comeBack(assign);
    expect(island.last("welcome")?.held).toMatchObject([{ action: "continue", ackedSeq: 1 }]);
    await island.say(outputFrame(assign, 2, "two"), finishedFrame(assign, 3));
    expect(await view(assign)).toMatchObject({ state: "completed", output: "one two", attempt: 1 });
  });

  it("keeps the attempt even if the coordinator crashed in between", async () => {
    const { island, assign } = await begin();
    island.lose();
    await pass(GRACE_MS);
    await restart();
    const again = await PlayedIsland.rejoin(world, accountId, island.hostId, assign);
    expect(again.last("welcome")?.held).toMatchObject([{ action: "continue", ackedSeq: 1 }]);
    await again.say(outputFrame(assign, 2, "two"), finishedFrame(assign, 3));
    expect(await view(assign)).toMatchObject({ state: "completed", output: "one two", attempt: 1 });
  });

  it("loses the attempt if another Island has the job", async () => {
    const { island, assign } = await begin();
    const other = await PlayedIsland.join(world, accountId);
    island.lose();
    await pass(GRACE_MS);
    expect(other.assign.attempt).toBe(2);
    await island.comeBack(assign);
    expect(actions(island)).toEqual(["drop"]);
  });

  it("keeps the attempt once, and then the job goes to another Island", async () => {
    const { island, assign } = await begin();
    for (const action of ["continue", "drop"]) {
      island.lose();
      await pass(GRACE_MS);
      await island.comeBack(assign);
      expect(actions(island)).toEqual([action]);
      await world.settle();
    }
    // The Island's losses opened its circuit breaker.
    await pass(FIRST_PAUSE_MS);
    expect(island.assign).toMatchObject({ jobId: assign.jobId, attempt: 2, resume: { text: "one " } });
  });

  it("loses the attempt if it was stopped for silence", async () => {
    const { island, assign } = await begin();
    await pass(PHASE_LIMITS.silence);
    expect((await view(assign)).state).toBe("pending");
    island.lose();
    await island.comeBack(assign);
    expect(actions(island)).toEqual(["drop"]);
  });

  it("needs its attempt token", async () => {
    const { island, assign } = await begin();
    island.lose();
    await pass(GRACE_MS);
    await island.comeBack({ ...assign, claim: "guessed" });
    expect(actions(island)).toEqual(["drop"]);
  });
});

describe("after a restart of the coordinator", () => {
  it("an answer that cannot be continued does not fail before Islands had time to return", async () => {
    const { island, assign } = await begin(JSON_ANSWER, {}, '["one ');
    await restart();
    await pass(RESTART_GRACE_MS - 1);
    expect((await view(assign)).state).toBe("running");
    const again = await PlayedIsland.rejoin(world, accountId, island.hostId, assign);
    await again.say(outputFrame(assign, 2, 'two"]'), finishedFrame(assign, 3));
    expect(await view(assign)).toMatchObject({ state: "completed", output: '["one two"]' });
  });

  it("a lost job keeps its remaining time to find another Island", async () => {
    const { island, assign } = await begin({ prompt: "Hi" }, { waitLimitMs: 10_000 });
    island.lose();
    await pass(GRACE_MS);
    await restart();
    await pass(59_000);
    expect((await view(assign)).state).toBe("pending");
    const other = await PlayedIsland.join(world, accountId);
    await world.settle();
    expect(other.assign).toMatchObject({ attempt: 2, resume: { text: "one " } });
  });

  it("a lost job that finds no Island reports that it had one", async () => {
    const { island, assign } = await begin({ prompt: "Hi" }, { waitLimitMs: 10_000 });
    island.lose();
    await pass(GRACE_MS);
    await restart();
    await pass(60_000);
    const message =
      "1 attempt of the job ended without a result, and no Island began another in time: no Island is online";
    expect((await view(assign)).error).toEqual({ code: "wait_timeout", message, retryable: true });
  });
});

describe("a chat whose coordinator crashed", () => {
  const CHAT = { isClientBound: true };

  it("is cancelled after the grace period, and charged as if its client had disconnected", async () => {
    const { assign } = await begin({ prompt: "Hi", max_tokens: 10 }, CHAT);
    await restart();
    await pass(GRACE_MS - 1);
    expect((await view(assign)).state).toBe("running");
    await pass(1);
    const { state, creditsUsedMicro } = await view(assign);
    expect([state, creditsUsedMicro < 1_000_003]).toEqual(["cancelled", true]);
    // The account owns the Island, so it earns the whole charge except for the network's part.
    expect(await balanceOf(opened.store, accountId)).toBeGreaterThan(GRANT_MICRO - creditsUsedMicro);
  });

  it("is cancelled while it waits, even with several others", async () => {
    const ids = [await submit({ prompt: "Hi" }, CHAT), await submit({ prompt: "Hi" }, CHAT)];
    await restart();
    await pass(GRACE_MS);
    const states = await Promise.all(ids.map(async (id) => (await world.jobs.get(accountId, id)).state));
    expect(states).toEqual(["cancelled", "cancelled"]);
  });

  it("continues for a reader that connects within the grace period", async () => {
    const { island, assign } = await begin({ prompt: "Hi" }, CHAT);
    await restart();
    const feed = await world.jobs.openFeed(accountId, assign.jobId);
    const again = await PlayedIsland.rejoin(world, accountId, island.hostId, assign);
    await pass(GRACE_MS);
    await again.say(outputFrame(assign, 2, "two"), finishedFrame(assign, 3));
    expect([feed.text(), feed.ending?.type]).toEqual(["one two", "done"]);
  });

  it("continues for a reader that connected while other jobs were still being restored", async () => {
    const { assign } = await begin({ prompt: "Hi" }, CHAT);
    await restart();
    const feed = await world.jobs.openFeed(accountId, assign.jobId);
    feed.subscribe(() => undefined);
    world.registry.awaitReaders([assign.jobId]);
    await pass(GRACE_MS);
    expect((await view(assign)).state).toBe("running");
  });

  it("is not cancelled if it was submitted as a job", async () => {
    const { assign } = await begin();
    await restart();
    await pass(GRACE_MS);
    expect((await view(assign)).state).toBe("running");
  });
});
