import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import type { QuarantineNotice } from "../../shared/protocol/from-coordinator.ts";
import type { IslandAgent } from "../../island-agent/agent.ts";
import { settle } from "../support/event-log.ts";
import type { FakeRuntime } from "../support/models/fake-runtime.ts";
import type { ManualClock } from "../support/manual-clock.ts";
import { type FakeFiles, type FakeLog, ISLAND_TOKEN, makeAssign } from "./builders.ts";
import { decide, HEARTBEAT_MS, type ScriptedCoordinator, type ScriptedSession } from "./scripted-coordinator.ts";
import { AgentWorld, FIRST_RETRY_MS, HOST_ID } from "./agent-world.ts";

let world: AgentWorld;
let coordinator: ScriptedCoordinator;
let runtime: FakeRuntime;
let files: FakeFiles;
let clock: ManualClock;
let log: FakeLog;
let agent: IslandAgent;

beforeEach(async () => {
  world = await AgentWorld.open();
  ({ coordinator, runtime, files, clock, log, agent } = world);
});
afterEach(() => world[Symbol.asyncDispose]());

const openWithJob = (script?: object): Promise<ScriptedSession> => world.openWithJob(script);
const retry = (count: number, waitMs: number): Promise<void> => world.retry(count, waitMs);

describe("a session", () => {
  it("starts with the token, hello and welcome", async () => {
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
    await session.processed();
    expect(agent.status()).toMatchObject({ link: "connected", reconnects: 0, lastProblem: null });
    expect(world.connections).toBe(1);
  });

  it("shows a quarantine from an acknowledgement until another ends it, with the time left", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    const statusAfter = async (quarantine?: QuarantineNotice | null): Promise<AgentStatus["quarantine"]> => {
      session.send({
        type: "ack",
        jobId: "job_1",
        attempt: 1,
        seq: 1,
        ...(quarantine === undefined ? {} : { quarantine }),
      });
      await session.processed();
      return agent.status().quarantine;
    };
    expect(await statusAfter()).toBeNull();
    const notice = { inARow: 4, forMs: 30_000, lastCode: "out_of_memory" } as const;
    expect(await statusAfter(notice)).toEqual(notice);
    clock.advance(1_000);
    expect(await statusAfter()).toEqual({ ...notice, forMs: 29_000 });
    expect(await statusAfter(null)).toBeNull();
  });

  it("runs jobs and removes them when their end is acknowledged", async () => {
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

  it("sends a heartbeat with the state per interval", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    await session.processed();
    clock.advance(HEARTBEAT_MS);
    expect(await session.next("heartbeat")).toMatchObject({ state: { cpuLoad: 0.5, freeVramBytes: null, loaded: [] } });
    await session.processed();
    clock.advance(HEARTBEAT_MS);
    await session.next("heartbeat", 2);
  });

  it("reports loaded Cargos soon after a load", async () => {
    const session = await openWithJob();
    clock.advance(500);
    expect((await session.next("heartbeat")).state.loaded).toEqual(["a"]);
  });

  it("downloads a Cargo of a preload frame and does not keep it in use", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    const model = { url: "https://files.example/a.gguf", sha256: null, sizeBytes: null };
    session.send({ type: "preload", cargo: { ...makeAssign().cargo, model } });
    await files.events.happened("release a");
    expect(files.events.all).toEqual(["fetch a", "lease a", "release a"]);
  });

  it("requests recommended Cargos, and reports them once downloaded", async () => {
    world.recommendations = [{ slug: "a", queued: 1, demandScore: 10, isDefault: false, earningsPerJob: "1" }];
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

  it("requests recommendations again as soon as it is resumed", async () => {
    world.recommendations = [{ slug: "a", queued: 1, demandScore: 10, isDefault: false, earningsPerJob: "1" }];
    const session = await coordinator.session(1);
    await session.welcome();
    await session.next("wanted");
    agent.pause();
    expect(agent.status().preload?.problem).toBe("no downloads while the Island is paused");
    agent.resume();
    expect((await session.next("wanted", 2)).slugs).toEqual(["a"]);
    expect(agent.status().preload?.problem).toBeNull();
  });

  it("accepts no new jobs while it is paused, finishes running ones, and accepts jobs again afterwards", async () => {
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

  it("reports in hello that it accepts no jobs when it reconnects paused", async () => {
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

  it("cancels a job on request", async () => {
    const session = await openWithJob();
    session.send({ type: "cancel", jobId: "job_1", attempt: 1, reason: "timeout" });
    await session.next("cancelled");
    expect(agent.status().counts).toMatchObject({ cancelled: 1 });
  });
});

describe("after a lost connection", () => {
  it("sends the jobs that it holds, with their attempt tokens, and resends unacknowledged frames", async () => {
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
    expect(world.connections).toBe(1);
  });

  it("sends only frames that the coordinator lacks", async () => {
    const first = await openWithJob();
    first.socket.terminate();
    runtime.go("run");
    await retry(1, FIRST_RETRY_MS);
    const second = await coordinator.session(2);
    await second.welcome({ held: [decide("continue", "job_1", 1, 1)] });
    await second.next("finished");
    expect(second.frames("output")).toEqual([]);
  });

  it("stops and removes a job that the coordinator drops", async () => {
    const first = await openWithJob();
    first.socket.terminate();
    await retry(1, FIRST_RETRY_MS);
    const second = await coordinator.session(2);
    await second.welcome({ held: [decide("drop")] });
    await runtime.events.happened("end run");
    await second.processed();
    expect(second.events.all).toEqual(["hello", "pong"]);
    expect(agent.status()).toMatchObject({ running: [], counts: { cancelled: 1 } });
  });

  it("doubles the wait with each failed attempt, even when the session is refused right after welcome", async () => {
    const waits = [FIRST_RETRY_MS, 500, 1_000, 2_000];
    for (const [index, waitMs] of waits.entries()) {
      const session = await coordinator.session(index + 1);
      await session.welcome();
      await session.processed();
      session.socket.close(1008, "not now");
      await retry(index + 1, waitMs);
    }
    await coordinator.session(5);
    expect(agent.status().lastProblem).toBe("closed with 1008: not now");
  });

  it("waits at most 5 s while it holds a job, because of the grace period", async () => {
    const first = await openWithJob();
    first.socket.terminate();
    // With this `random`, each wait is half of its step. The wait after 2 s would be 4 s, and the maximum without a job
    // 15 s.
    const waits = [FIRST_RETRY_MS, 500, 1_000, 2_000, 2_500, 2_500];
    for (const [index, waitMs] of waits.entries()) {
      await retry(index + 1, waitMs);
      (await coordinator.session(index + 2)).socket.terminate();
    }
    runtime.go("run");
  });

  it("resets the wait after a session that has lasted one heartbeat", async () => {
    (await coordinator.session(1)).socket.terminate();
    await retry(1, FIRST_RETRY_MS);
    const session = await coordinator.session(2);
    await session.welcome();
    await session.processed();
    clock.advance(HEARTBEAT_MS);
    await session.next("heartbeat");
    session.socket.terminate();
    await retry(2, FIRST_RETRY_MS);
    await coordinator.session(3);
  });

  it("retries while no coordinator listens", async () => {
    await coordinator.session(1);
    await coordinator.vanish();
    await retry(1, FIRST_RETRY_MS);
    await log.sessions.happened("over", 2);
    expect(agent.status().lastProblem).toMatch(/ECONNREFUSED/);
    await coordinator.listen();
    await retry(2, 500);
    await coordinator.session(2);
  });
});
