import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { IslandAgent } from "../../island-agent/agent.ts";
import type { FakeRuntime } from "../support/models/fake-runtime.ts";
import type { ManualClock } from "../support/manual-clock.ts";
import type { FakeLog } from "./builders.ts";
import { HEARTBEAT_MS, type ScriptedCoordinator, type ScriptedSession } from "./scripted-coordinator.ts";
import { AgentWorld, FIRST_RETRY_MS } from "./agent-world.ts";

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

const openWithJob = (script?: object): Promise<ScriptedSession> => world.openWithJob(script);
const retry = (count: number, waitMs: number): Promise<void> => world.retry(count, waitMs);

describe("silence", () => {
  it("for 2.5 heartbeats ends the session", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    await log.events.happened("info Connected");
    clock.advance(HEARTBEAT_MS * 2.5 - 1);
    await session.processed();
    clock.advance(HEARTBEAT_MS * 2.5);
    await session.closed;
    await retry(1, FIRST_RETRY_MS);
    await coordinator.session(2);
    expect(agent.status().lastProblem).toBe("no message from the coordinator");
  });

  it("for 15 s before welcome ends the session", async () => {
    const session = await coordinator.session(1);
    await session.next("hello");
    clock.advance(15_000);
    await retry(1, FIRST_RETRY_MS);
    await coordinator.session(2);
    expect(agent.status()).toMatchObject({ lastProblem: "no message from the coordinator", reconnects: 0 });
  });
});

describe("goodbye", () => {
  it("with a wait is followed by another session after the wait", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    session.send({ type: "goodbye", reason: "the coordinator restarts", retryAfterMs: 5_000 });
    session.socket.close(1001);
    await retry(1, 5_000 + FIRST_RETRY_MS);
    await coordinator.session(2);
    expect(agent.status().lastProblem).toBe("the coordinator restarts");
  });

  it("without a wait ends the agent", async () => {
    const session = await openWithJob();
    session.send({ type: "goodbye", reason: "this Island was removed", retryAfterMs: null });
    session.socket.close(1001);
    expect(await ended).toBe("this Island was removed");
    expect(agent.status()).toMatchObject({ link: "stopped", running: [], loaded: [] });
    expect(runtime.events.count("disposed a")).toBe(1);
    expect(coordinator.sessions).toBe(1);
  });
});

describe("a coordinator that refuses the Island", () => {
  it("with status 401 ends the agent", async () => {
    const session = await coordinator.session(1);
    coordinator.refusals.push(401);
    session.socket.terminate();
    await retry(1, FIRST_RETRY_MS);
    expect(await ended).toBe("the coordinator rejected the token");
  });

  it("with status 503 is dialed again", async () => {
    const session = await coordinator.session(1);
    coordinator.refusals.push(503);
    session.socket.terminate();
    await retry(1, FIRST_RETRY_MS);
    await retry(2, 500);
    await coordinator.session(2);
    expect(agent.status().lastProblem).toBe("the coordinator responded with status 503");
  });

  it("because of another protocol version (1002) ends the agent", async () => {
    const session = await coordinator.session(1);
    session.socket.close(1002, "unsupported protocol version; supported: atoll.island.v2");
    expect(await ended).toBe("closed with 1002: unsupported protocol version; supported: atoll.island.v2");
  });
});

describe("an invalid frame from the coordinator", () => {
  it.each<[string, (session: ScriptedSession) => void, string]>([
    ["that is not MessagePack", ({ socket }) => socket.send(Buffer.from([0x92])), "frame must be MessagePack"],
    ["of an unknown type", (session) => session.send({ type: "dance" } as never), "type: Invalid"],
    [
      "before welcome",
      (session) => session.send({ type: "ack", jobId: "job_1", attempt: 1, seq: 1 }),
      "ack: before welcome",
    ],
  ])("%s closes the session with 1008 and the reason, and the Island reconnects", async (_, send, reason) => {
    const session = await coordinator.session(1);
    await session.next("hello");
    send(session);
    const closed = await session.closed;
    expect(closed).toEqual({ code: 1008, reason: expect.stringContaining(reason) });
    await retry(1, FIRST_RETRY_MS);
    await coordinator.session(2);
  });

  it("that repeats welcome closes the session", async () => {
    const session = await coordinator.session(1);
    await session.welcome();
    await session.welcome();
    expect(await session.closed).toEqual({ code: 1008, reason: "welcome: sent twice" });
  });
});
