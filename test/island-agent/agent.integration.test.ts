import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IslandAgent } from "../../island-agent/agent.ts";
import { Availability } from "../../island-agent/availability/availability.ts";
import type { Recommendation } from "../../island-agent/preload/recommendations.ts";
import { settle } from "../support/event-log.ts";
import { FakeRuntime } from "../support/fake-runtime.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { FakeLog, FakeFiles, ISLAND_TOKEN, makeAssign, makeHardware } from "./builders.ts";
import { decide, HEARTBEAT_MS, ScriptedCoordinator, type ScriptedSession } from "./scripted-coordinator.ts";

const HOST_ID = "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01";
/** With `random` at its lowest, half of each step. Source: session/backoff.ts. */
const FIRST_RETRY_MS = 250;
const DRAIN_LIMIT_MS = 60_000;
const FAREWELL_LIMIT_MS = 15_000;

let coordinator: ScriptedCoordinator;
let runtime: FakeRuntime;
let files: FakeFiles;
let clock: ManualClock;
let log: FakeLog;
let agent: IslandAgent;
let ended: Promise<string>;
let hasEnded: boolean;
let connections: number;
let recommendations: Recommendation[];

beforeEach(async () => {
  coordinator = await ScriptedCoordinator.open();
  runtime = new FakeRuntime();
  files = new FakeFiles();
  clock = new ManualClock();
  log = new FakeLog();
  connections = 0;
  recommendations = [];
  agent = new IslandAgent(
    {
      coordinatorUrl: coordinator.url,
      token: ISLAND_TOKEN,
      publicKey: coordinator.publicKey,
      accountId: "user_1",
      hostId: HOST_ID,
      version: "0.0.0-test",
      slots: 2,
      farewellLimitMs: FAREWELL_LIMIT_MS,
    },
    {
      clock,
      hardware: makeHardware(),
      runtimes: new Map([["llmcpp", { runtime, version: "fake" }]]),
      files,
      availability: new Availability({ clock, hours: null, isPaused: false }),
      recommend: async () => recommendations,
      usage: () => ({ cpuLoad: 0.5, freeRamBytes: 1, freeVramBytes: null }),
      freeRamBytes: () => null,
      log,
      onConnected: () => (connections += 1),
      random: () => 0,
    },
  );
  hasEnded = false;
  ended = agent.run().finally(() => (hasEnded = true));
});

afterEach(async () => {
  const stopped = agent.stop();
  while (!(await isEnded())) clock.advance(2_000);
  await stopped;
  await coordinator[Symbol.asyncDispose]();
  expect(clock.pendingTimers, "timers left").toBe(0);
});

const isEnded = async (): Promise<boolean> => {
  await settle();
  return hasEnded;
};

/** The first session, welcomed, with one job that is held in the middle of its run. */
async function openWithJob(script: object = {}): Promise<ScriptedSession> {
  const session = await coordinator.session(1);
  await session.welcome();
  session.send(makeAssign({ script: { tokens: ["a"], hold: true, ...script } }));
  await session.next("output");
  return session;
}

/** Waits until the agent has noticed the `count`th end of a session, then lets the time to the next try pass. */
async function retry(count: number, waitMs: number): Promise<void> {
  await log.events.happened("info Session ended", count);
  clock.advance(waitMs - 1);
  await settle();
  expect(agent.status().link).toBe("waiting");
  clock.advance(1);
}

describe("a session", () => {
  it("begins with the token, hello and welcome", async () => {
    const session = await coordinator.session(1);
    expect(coordinator.requests).toEqual([{ path: "/api/v1/island/session", authorization: `Bearer ${ISLAND_TOKEN}` }]);
    files.onDisk = [{ key: "k", bytes: 1 }];
    expect(await session.welcome()).toMatchObject({
      hostId: HOST_ID,
      agentVersion: "0.0.0-test",
      runtimes: [{ type: "llmcpp", version: "fake" }],
      slots: 2,
      draining: false,
      held: [],
    });
    await session.heard();
    expect(agent.status()).toMatchObject({ link: "connected", reconnects: 0, lastProblem: null });
    expect(connections).toBe(1);
  });

  it("runs jobs and forgets them when their end is acknowledged", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    session.send(makeAssign({ script: { tokens: ["a"] } }));
    await session.next("finished");
    expect(session.events.all.filter((type) => type !== "heartbeat")).toEqual([
      "hello",
      "accepted",
      "started",
      "output",
      "finished",
    ]);
    session.ackAll("job_1", 1);
    session.socket.terminate();
    await retry(1, FIRST_RETRY_MS);
    expect((await (await coordinator.session(2)).next("hello")).held).toEqual([]);
  });

  it("carries a heartbeat with the state per interval", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    await session.heard();
    clock.advance(HEARTBEAT_MS);
    expect(await session.next("heartbeat")).toMatchObject({ state: { cpuLoad: 0.5, freeVramBytes: null, loaded: [] } });
    await session.heard();
    clock.advance(HEARTBEAT_MS);
    await session.next("heartbeat", 2);
  });

  it("tells soon after a load what is in memory", async () => {
    const session = await openWithJob();
    clock.advance(500);
    expect((await session.next("heartbeat")).state.loaded).toEqual(["a"]);
  });

  it("fetches what it is told to preload and keeps it free", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    const model = { url: "https://files.example/a.gguf", sha256: null, sizeBytes: null };
    session.send({ type: "preload", cargo: { ...makeAssign().cargo, model } });
    await files.events.happened("release a");
    expect(files.events.all).toEqual(["fetch a", "lease a", "release a"]);
  });

  it("asks for what is recommended, and tells what it has then", async () => {
    recommendations = [{ slug: "a", queued: 1, demandScore: 10, earningsPerJob: "1" }];
    const session = await coordinator.session(1);
    await session.welcome();
    expect((await session.next("wanted")).slugs).toEqual(["a"]);
    const model = { url: "https://files.example/a.gguf", sha256: null, sizeBytes: null };
    session.send({ type: "preload", cargo: { ...makeAssign().cargo, model } });
    await files.events.happened("release a");
    await settle();
    clock.advance(500);
    expect((await session.next("heartbeat")).state.cachedModels).toEqual([{ key: model.url, bytes: 1 }]);
    expect(agent.status().preload?.items).toMatchObject([{ slug: "a", state: "on disk" }]);
  });

  it("asks again for what is recommended as soon as it is resumed", async () => {
    recommendations = [{ slug: "a", queued: 1, demandScore: 10, earningsPerJob: "1" }];
    const session = await coordinator.session(1);
    await session.welcome();
    await session.next("wanted");
    agent.pause();
    expect(agent.status().preload?.problem).toBe("nothing is fetched: the Island is paused");
    agent.resume();
    expect((await session.next("wanted", 2)).slugs).toEqual(["a"]);
    expect(agent.status().preload?.problem).toBeNull();
  });

  it("takes no new jobs while it is paused, finishes those in hand, and takes them again", async () => {
    const session = await openWithJob();
    agent.pause();
    await session.next("draining");
    session.send(makeAssign({ jobId: "job_2" }));
    expect(await session.next("refused")).toMatchObject({ jobId: "job_2", message: "The Island is paused" });
    runtime.go("run");
    await session.next("finished");
    expect(agent.status()).toMatchObject({ link: "connected", closedBecause: "paused" });
    agent.resume();
    await session.next("accepting");
    session.send(makeAssign({ jobId: "job_3" }));
    await session.next("accepted", 2);
  });

  it("says hello as one that takes no jobs when it comes back paused", async () => {
    const first = await coordinator.session(1);
    await first.welcome();
    agent.pause();
    await first.next("draining");
    first.socket.terminate();
    while (agent.status().link !== "waiting") await settle();
    clock.advance(1_000);
    const second = await coordinator.session(2);
    expect((await second.next("hello")).draining).toBe(true);
    await second.welcome();
    agent.resume();
    await second.next("accepting");
  });

  it("cancels a job when told to", async () => {
    const session = await openWithJob();
    session.send({ type: "cancel", jobId: "job_1", attempt: 1, reason: "timeout" });
    await session.next("cancelled");
    expect(agent.status().counts).toMatchObject({ cancelled: 1 });
  });
});

describe("after a lost connection", () => {
  it("names the jobs that it holds, with their claims, and sends again what was not acknowledged", async () => {
    const first = await openWithJob();
    first.socket.terminate();
    runtime.go("run");
    await runtime.events.happened("end run");
    await retry(1, FIRST_RETRY_MS);
    const second = await coordinator.session(2);
    const hello = await second.welcome({ held: [decide("continue")] });
    expect(hello.held).toEqual([{ jobId: "job_1", attempt: 1, claim: "claim-1", started: true }]);
    await second.next("finished");
    expect(second.frames("output")).toMatchObject([{ seq: 1, items: [{ content: "a" }] }]);
    expect(second.frames("finished")).toMatchObject([{ seq: 2 }]);
    expect(agent.status()).toMatchObject({ reconnects: 1 });
    expect(connections).toBe(1);
  });

  it("sends only what comes after what the coordinator has", async () => {
    const first = await openWithJob();
    first.socket.terminate();
    runtime.go("run");
    await retry(1, FIRST_RETRY_MS);
    const second = await coordinator.session(2);
    await second.welcome({ held: [decide("continue", "job_1", 1, 1)] });
    await second.next("finished");
    expect(second.frames("output")).toEqual([]);
  });

  it("stops and forgets a job that it is told to drop", async () => {
    const first = await openWithJob();
    first.socket.terminate();
    await retry(1, FIRST_RETRY_MS);
    const second = await coordinator.session(2);
    await second.welcome({ held: [decide("drop")] });
    await runtime.events.happened("end run");
    await second.heard();
    expect(second.events.all).toEqual(["hello", "pong"]);
    expect(agent.status()).toMatchObject({ running: [], counts: { cancelled: 1 } });
  });

  it("waits twice as long with every try that fails, also when the session is refused right after welcome", async () => {
    const waits = [FIRST_RETRY_MS, 500, 1_000, 2_000];
    for (const [index, waitMs] of waits.entries()) {
      const session = await coordinator.session(index + 1);
      await session.welcome();
      await session.heard();
      session.socket.close(1008, "not now");
      await retry(index + 1, waitMs);
    }
    await coordinator.session(5);
    expect(agent.status().lastProblem).toBe("closed with 1008: not now");
  });

  it("begins anew with the shortest wait after a session that has served for one heartbeat", async () => {
    (await coordinator.session(1)).socket.terminate();
    await retry(1, FIRST_RETRY_MS);
    const session = await coordinator.session(2);
    await session.welcome();
    await session.heard();
    clock.advance(HEARTBEAT_MS);
    await session.next("heartbeat");
    session.socket.terminate();
    await retry(2, FIRST_RETRY_MS);
    await coordinator.session(3);
  });

  it("tries again while nobody listens", async () => {
    await coordinator.session(1);
    await coordinator.vanish();
    await retry(1, FIRST_RETRY_MS);
    await log.events.happened("info Session ended", 2);
    expect(agent.status().lastProblem).toMatch(/ECONNREFUSED/);
    await coordinator.listen();
    await retry(2, 500);
    await coordinator.session(2);
  });
});

describe("silence", () => {
  it("of 2.5 heartbeats ends the session", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    await log.events.happened("info Connected");
    clock.advance(HEARTBEAT_MS * 2.5 - 1);
    await session.heard();
    clock.advance(HEARTBEAT_MS * 2.5);
    await session.closed;
    await retry(1, FIRST_RETRY_MS);
    await coordinator.session(2);
    expect(agent.status().lastProblem).toBe("the coordinator is silent");
  });

  it("of 15 s in place of welcome does so too", async () => {
    const session = await coordinator.session(1);
    await session.next("hello");
    clock.advance(15_000);
    await retry(1, FIRST_RETRY_MS);
    await coordinator.session(2);
    expect(agent.status()).toMatchObject({ lastProblem: "the coordinator is silent", reconnects: 0 });
  });
});

describe("goodbye", () => {
  it("with a wait is followed by another session after it", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    session.send({ type: "goodbye", reason: "the coordinator restarts", retryAfterMs: 5_000 });
    session.socket.close(1001);
    await retry(1, 5_000 + FIRST_RETRY_MS);
    await coordinator.session(2);
    expect(agent.status().lastProblem).toBe("the coordinator restarts");
  });

  it("without one ends the agent", async () => {
    const session = await openWithJob();
    session.send({ type: "goodbye", reason: "this Island was removed", retryAfterMs: null });
    session.socket.close(1001);
    expect(await ended).toBe("this Island was removed");
    expect(agent.status()).toMatchObject({ link: "stopped", running: [], loaded: [] });
    expect(runtime.events.count("disposed a")).toBe(1);
    expect(coordinator.sessions).toBe(1);
  });
});

describe("a coordinator that will not have the Island", () => {
  it("answering 401 ends the agent", async () => {
    const session = await coordinator.session(1);
    coordinator.refusals.push(401);
    session.socket.terminate();
    await retry(1, FIRST_RETRY_MS);
    expect(await ended).toBe("the coordinator does not accept the token");
  });

  it("answering 503 is asked again", async () => {
    const session = await coordinator.session(1);
    coordinator.refusals.push(503);
    session.socket.terminate();
    await retry(1, FIRST_RETRY_MS);
    await retry(2, 500);
    await coordinator.session(2);
    expect(agent.status().lastProblem).toBe("the coordinator answered 503");
  });

  it("speaking another version (1002) ends the agent", async () => {
    const session = await coordinator.session(1);
    session.socket.close(1002, "versions spoken: atoll.island.v2");
    expect(await ended).toBe("closed with 1002: versions spoken: atoll.island.v2");
  });
});

describe("a bad frame from the coordinator", () => {
  it.each<[string, (session: ScriptedSession) => void, string]>([
    ["that is no MessagePack", ({ socket }) => socket.send(Buffer.from([0x92])), "frame is not MessagePack"],
    ["of an unknown type", (session) => session.send({ type: "dance" } as never), "type: Invalid"],
    [
      "before welcome",
      (session) => session.send({ type: "ack", jobId: "job_1", attempt: 1, seq: 1 }),
      "ack: before welcome",
    ],
  ])("%s closes the session with 1008 and the reason, and the Island comes back", async (_, send, reason) => {
    const session = await coordinator.session(1);
    await session.next("hello");
    send(session);
    const closed = await session.closed;
    expect(closed).toEqual({ code: 1008, reason: expect.stringContaining(reason) });
    await retry(1, FIRST_RETRY_MS);
    await coordinator.session(2);
  });

  it("that says welcome twice does so too", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    await session.welcome();
    expect(await session.closed).toEqual({ code: 1008, reason: "welcome: said twice" });
  });
});

describe("drain()", () => {
  it("tells the coordinator, finishes the job in hand, and leaves when its end is acknowledged", async () => {
    const session = await openWithJob();
    const drained = agent.drain(DRAIN_LIMIT_MS);
    await agent.drain(DRAIN_LIMIT_MS);
    await session.next("draining");
    session.send(makeAssign({ jobId: "job_2" }));
    expect(await session.next("refused")).toMatchObject({ jobId: "job_2", code: "shutting_down" });
    runtime.go("run");
    await session.next("finished");
    expect(session.frames("draining")).toHaveLength(1);
    expect(await isEnded()).toBe(false);
    session.ackAll("job_1", 1);
    await drained;
    expect(await ended).toBe("the agent stops");
    expect(await session.closed).toMatchObject({ code: 1000 });
  });

  it("while disconnected comes back to bring its results, and leaves as soon as they are acknowledged", async () => {
    const first = await openWithJob();
    await coordinator.vanish();
    await first.closed;
    // So long away that the wait for the next try has grown to its most.
    for (let count = 1; count <= 8; count += 1) {
      await log.events.happened("info Session ended", count);
      clock.advance(30_000);
    }
    await log.events.happened("info Session ended", 9);
    const drained = agent.drain(DRAIN_LIMIT_MS);
    runtime.go("run");
    await log.events.happened("info Session ended", 10);
    await coordinator.listen();
    clock.advance(FIRST_RETRY_MS);
    const second = await coordinator.session(2);
    expect(await second.welcome({ held: [decide("continue")] })).toMatchObject({ draining: true });
    await second.next("finished");
    expect(await isEnded()).toBe(false);
    second.ackAll("job_1", 1);
    await drained;
    expect(await ended).toBe("the agent stops");
  });

  it("gives up on a coordinator that does not come back when the farewell limit is over", async () => {
    const first = await openWithJob();
    await coordinator.vanish();
    await first.closed;
    const drained = agent.drain(DRAIN_LIMIT_MS);
    runtime.go("run");
    await runtime.events.happened("end run");
    await settle();
    clock.advance(FAREWELL_LIMIT_MS - 1);
    expect(await isEnded()).toBe(false);
    clock.advance(1);
    await drained;
    expect(await ended).toBe("the agent stops");
  });

  it("gives jobs back that take longer than its limit", async () => {
    const session = await openWithJob();
    const drained = agent.drain(DRAIN_LIMIT_MS);
    await session.next("draining");
    for (let count = 0; count < 3; count += 1) {
      expect(session.frames("failed")).toEqual([]);
      clock.advance(DRAIN_LIMIT_MS / 3);
      await session.heard();
    }
    expect(await session.next("failed")).toMatchObject({ code: "shutting_down", retryable: true });
    session.ackAll("job_1", 1);
    await drained;
  });

  it("without a limit waits as long as the job runs, and takes a limit later", async () => {
    const session = await openWithJob();
    const drained = agent.drain(null);
    await session.next("draining");
    for (let count = 0; count < 9; count += 1) {
      clock.advance(DRAIN_LIMIT_MS / 3);
      await session.heard();
    }
    expect(session.frames("failed")).toEqual([]);
    await agent.drain(1_000);
    clock.advance(1_000);
    expect(await session.next("failed")).toMatchObject({ code: "shutting_down", retryable: true });
    session.ackAll("job_1", 1);
    await drained;
  });

  it("without jobs leaves at once, also while it waits to connect again", async () => {
    (await coordinator.session(1)).socket.terminate();
    await log.events.happened("info Session ended");
    await agent.drain(DRAIN_LIMIT_MS);
    expect(await ended).toBe("the agent stops");
  });
});

describe("stop()", () => {
  it("gives the jobs back and leaves when that is acknowledged", async () => {
    const session = await openWithJob();
    const stopped = agent.stop();
    expect(await session.next("failed")).toMatchObject({ code: "shutting_down", retryable: true });
    expect(await isEnded()).toBe(false);
    session.ackAll("job_1", 1);
    await stopped;
    await ended;
  });

  it("waits 2 s for that and no longer", async () => {
    const session = await openWithJob();
    const stopped = agent.stop();
    await session.next("failed");
    clock.advance(2_000);
    await stopped;
    await ended;
  });

  it("in the middle of a drain's farewell leaves at once", async () => {
    const session = await openWithJob();
    const drained = agent.drain(DRAIN_LIMIT_MS);
    runtime.go("run");
    await session.next("finished");
    expect(await isEnded()).toBe(false);
    await agent.stop();
    await drained;
    expect(await ended).toBe("the agent stops");
  });

  it("does not wait for a coordinator that does not answer the close", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    await session.heard();
    session.socket.pause();
    await agent.stop();
    await settle();
    clock.advance(2_000);
    expect(await ended).toBe("the agent stops");
  });
});
