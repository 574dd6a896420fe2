import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { IslandAgent } from "../../island-agent/agent.ts";
import { settle } from "../support/event-log.ts";
import type { FakeRuntime } from "../support/models/fake-runtime.ts";
import type { ManualClock } from "../support/manual-clock.ts";
import { type FakeLog, makeAssign } from "./builders.ts";
import { decide, type ScriptedCoordinator, type ScriptedSession } from "./scripted-coordinator.ts";
import { AgentWorld, MAX_DRAIN_MS, DRAIN_TIMEOUT_MS, FIRST_RETRY_MS } from "./agent-world.ts";

let world: AgentWorld;
let coordinator: ScriptedCoordinator;
let runtime: FakeRuntime;
let clock: ManualClock;
let log: FakeLog;
let agent: IslandAgent;
let ended: Promise<string>;

beforeEach(async () => {
  world = await AgentWorld.open();
  ({ coordinator, runtime, clock, log, agent, ended } = world);
});
afterEach(() => world[Symbol.asyncDispose]());

const isEnded = (): Promise<boolean> => world.isEnded();
const openWithJob = (script?: object): Promise<ScriptedSession> => world.openWithJob(script);

describe("drain()", () => {
  it("notifies the coordinator, finishes the running job, and leaves when its end is acknowledged", async () => {
    const session = await openWithJob();
    const drained = agent.drain(MAX_DRAIN_MS);
    await agent.drain(MAX_DRAIN_MS);
    await session.next("draining");
    session.send(makeAssign({ jobId: "job_2" }));
    expect(await session.next("refused")).toMatchObject({ jobId: "job_2", code: "island_refused" });
    runtime.go("run");
    await session.next("finished");
    expect(session.frames("draining")).toHaveLength(1);
    expect(await isEnded()).toBe(false);
    session.ackAll("job_1", 1);
    await drained;
    expect(await ended).toBe("the agent stops");
    expect(await session.closed).toMatchObject({ code: 1000 });
  });

  it("reconnects to deliver results, and leaves as soon as they are acknowledged", async () => {
    const first = await openWithJob();
    await coordinator.vanish();
    await first.closed;
    // The time is long enough for the wait between attempts to reach its maximum.
    for (let count = 1; count <= 8; count += 1) {
      await log.sessions.happened("over", count);
      clock.advance(30_000);
    }
    await log.sessions.happened("over", 9);
    const attempts = log.events.all.filter((event) => event.includes("reconnecting in"));
    expect(attempts.slice(0, 2)).toEqual([
      "info Session ended; reconnecting in 1 s",
      "info Not connected; reconnecting in 1 s",
    ]);
    expect(attempts.slice(2)).not.toContainEqual(expect.stringContaining("Session ended"));
    const drained = agent.drain(MAX_DRAIN_MS);
    runtime.go("run");
    await log.sessions.happened("over", 10);
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

  it("stops waiting for an unreachable coordinator after the drain timeout", async () => {
    const first = await openWithJob();
    await coordinator.vanish();
    await first.closed;
    const drained = agent.drain(MAX_DRAIN_MS);
    runtime.go("run");
    await runtime.events.happened("end run");
    await settle();
    clock.advance(DRAIN_TIMEOUT_MS - 1);
    expect(await isEnded()).toBe(false);
    clock.advance(1);
    await drained;
    expect(await ended).toBe("the agent stops");
  });

  it("returns jobs that take longer than its limit", async () => {
    const session = await openWithJob();
    const drained = agent.drain(MAX_DRAIN_MS);
    await session.next("draining");
    for (let count = 0; count < 3; count += 1) {
      expect(session.frames("failed")).toEqual([]);
      clock.advance(MAX_DRAIN_MS / 3);
      await session.processed();
    }
    expect(await session.next("failed")).toMatchObject({ code: "shutting_down", retryable: true });
    session.ackAll("job_1", 1);
    await drained;
  });

  it("waits for the job without a limit, and accepts a limit later", async () => {
    const session = await openWithJob();
    const drained = agent.drain(null);
    await session.next("draining");
    for (let count = 0; count < 9; count += 1) {
      clock.advance(MAX_DRAIN_MS / 3);
      await session.processed();
    }
    expect(session.frames("failed")).toEqual([]);
    await agent.drain(1_000);
    clock.advance(1_000);
    expect(await session.next("failed")).toMatchObject({ code: "shutting_down", retryable: true });
    session.ackAll("job_1", 1);
    await drained;
  });

  it("leaves immediately without jobs, even during the wait to reconnect", async () => {
    (await coordinator.session(1)).socket.terminate();
    await log.sessions.happened("over");
    await agent.drain(MAX_DRAIN_MS);
    expect(await ended).toBe("the agent stops");
  });
});

describe("stop()", () => {
  it("returns the jobs and leaves when that is acknowledged", async () => {
    const session = await openWithJob();
    const stopped = agent.stop();
    expect(await session.next("failed")).toMatchObject({ code: "shutting_down", retryable: true });
    expect(await isEnded()).toBe(false);
    session.ackAll("job_1", 1);
    await stopped;
    await ended;
  });

  it("waits at most 2 s for the acknowledgement", async () => {
    const session = await openWithJob();
    const stopped = agent.stop();
    await session.next("failed");
    clock.advance(2_000);
    await stopped;
    await ended;
  });

  it("leaves immediately during the end of a drain", async () => {
    const session = await openWithJob();
    const drained = agent.drain(MAX_DRAIN_MS);
    runtime.go("run");
    await session.next("finished");
    expect(await isEnded()).toBe(false);
    await agent.stop();
    await drained;
    expect(await ended).toBe("the agent stops");
  });

  it("does not wait for a coordinator that does not respond to the close", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    await session.processed();
    session.socket.pause();
    await agent.stop();
    await settle();
    clock.advance(2_000);
    expect(await ended).toBe("the agent stops");
  });
});
