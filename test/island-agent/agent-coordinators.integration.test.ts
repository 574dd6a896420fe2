import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentWorld, FIRST_RETRY_MS } from "./agent-world.ts";
import { HEARTBEAT_MS, ScriptedCoordinator } from "./scripted-coordinator.ts";

/** Public key of another coordinator. */
const OTHER_KEY = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

let second: ScriptedCoordinator;
let world: AgentWorld;
beforeEach(async () => {
  second = await ScriptedCoordinator.open();
  world = await AgentWorld.open({}, [second.url]);
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

describe("an Island with two coordinators", () => {
  it("connects to the other one immediately when one dies, with its jobs and attempt tokens", async () => {
    await world.openWithJob();
    await world.coordinator.vanish();
    const session = await second.session(1);
    const hello = await session.welcome({ held: [{ jobId: "job_1", attempt: 1, action: "continue", ackedSeq: 0 }] });
    expect(hello.held).toEqual([{ jobId: "job_1", attempt: 1, claim: expect.any(String) as string, started: true }]);
    expect(await session.next("output")).toMatchObject({ jobId: "job_1", attempt: 1, seq: 1 });
    expect(world.agent.status()).toMatchObject({ link: "connected", coordinatorUrl: second.url });
  });

  it("waits only when both are unreachable", async () => {
    await (await world.coordinator.session(1)).welcome();
    await second.vanish();
    await world.coordinator.vanish();
    await world.retry(2, FIRST_RETRY_MS);
    await world.log.sessions.happened("over", 4);
    await second.listen();
    await world.retry(4, 500);
    await second.session(1);
  });

  it("follows the address in a goodbye without the wait", async () => {
    await using third = await ScriptedCoordinator.open();
    await using three = await AgentWorld.open({}, [second.url, third.url]);
    const session = await three.coordinator.session(1);
    await session.welcome();
    session.send({ type: "goodbye", reason: "moving", retryAfterMs: 60_000, address: third.url });
    session.socket.close(1001);
    await third.session(1);
    expect(three.agent.status().lastProblem).toBe("moving");
    expect(second.sessions).toBe(0);
  });

  it("does not repeatedly follow a coordinator to its own address without a wait", async () => {
    const { coordinator } = world;
    for (const count of [1, 2]) {
      const session = await coordinator.session(count);
      await session.welcome();
      session.send({ type: "goodbye", reason: "moving", retryAfterMs: 0, address: coordinator.url });
      session.socket.close(1001);
    }
    await (await second.session(1)).welcome();
  });

  it("opens a renewed session with the same coordinator", async () => {
    await (await world.coordinator.session(1)).welcome();
    await world.log.events.happened("info Connected");
    world.agent.announce();
    await world.retry(1, FIRST_RETRY_MS);
    await world.coordinator.session(2);
    expect(second.sessions).toBe(0);
  });
});

describe("a coordinator that refuses the Island", () => {
  it("does not stop the agent from reconnecting to the other one", async () => {
    const session = await world.coordinator.session(1);
    await session.welcome();
    await world.log.events.happened("info Connected");
    world.clock.advance(HEARTBEAT_MS);
    await session.processed();
    second.refusals.push(401);
    session.socket.terminate();
    await world.retry(2, FIRST_RETRY_MS);
    await (await world.coordinator.session(2)).welcome();
  });

  it("does not stop the agent from reconnecting to the other one if its own key has changed", async () => {
    const session = await world.coordinator.session(1);
    await session.welcome();
    second.shownKey = OTHER_KEY;
    session.socket.terminate();
    await world.retry(2, FIRST_RETRY_MS);
    await (await world.coordinator.session(2)).welcome();
    expect(second.sessions).toBe(1);
  });

  it("ends the agent when the other one also refuses", async () => {
    const session = await world.coordinator.session(1);
    world.coordinator.refusals.push(401);
    second.refusals.push(401);
    session.socket.terminate();
    await world.retry(2, FIRST_RETRY_MS);
    expect(await world.ended).toBe("the coordinator rejected the token");
  });

  it("ends the agent immediately if it sent a goodbye without a retry time", async () => {
    const session = await world.coordinator.session(1);
    await session.welcome();
    session.send({ type: "goodbye", reason: "a newer session", retryAfterMs: null });
    session.socket.close(1001);
    expect(await world.ended).toBe("a newer session");
    expect(second.sessions).toBe(0);
  });
});
