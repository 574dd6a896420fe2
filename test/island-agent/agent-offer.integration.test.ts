import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { IslandAgent } from "../../island-agent/agent.ts";
import { settle } from "../support/event-log.ts";
import type { FakeRuntime } from "../support/models/fake-runtime.ts";
import { makeAssign, makeHardware } from "./builders.ts";
import { decide, type ScriptedCoordinator, type ScriptedSession } from "./scripted-coordinator.ts";
import { AgentWorld, FIRST_RETRY_MS } from "./agent-world.ts";

let world: AgentWorld;
let coordinator: ScriptedCoordinator;
let runtime: FakeRuntime;
let agent: IslandAgent;

beforeEach(async () => {
  world = await AgentWorld.open();
  ({ coordinator, runtime, agent } = world);
});
afterEach(() => world[Symbol.asyncDispose]());

const openWithJob = (script?: object): Promise<ScriptedSession> => world.openWithJob(script);
const retry = (count: number, waitMs: number): Promise<void> => world.retry(count, waitMs);

describe("the session of an Island with a changed offer", () => {
  it("is renewed, with its jobs, for a runtime that was found later", async () => {
    const first = await openWithJob();
    world.runtimes.set("onnx", { runtime, version: "late" });
    agent.announce();
    await retry(1, FIRST_RETRY_MS);
    const second = await coordinator.session(2);
    const hello = await second.next("hello");
    expect(hello.runtimes).toEqual([
      { type: "llmcpp", version: "fake" },
      { type: "onnx", version: "late" },
    ]);
    expect(hello.held).toMatchObject([{ jobId: "job_1", started: true }]);
    await second.welcome({ held: [decide("continue")] });
    runtime.go("run");
    await second.next("finished");
    second.send(makeAssign({ jobId: "job_2", cargo: { ...makeAssign().cargo, slug: "b", runtimeType: "onnx" } }));
    await second.next("finished", 2);
    expect(first.events.all).not.toContain("finished");
  });

  it("is renewed, with its jobs, when the owner changes slots and caps, even to fewer slots than jobs", async () => {
    const first = await openWithJob();
    first.send(makeAssign({ jobId: "job_2", script: { tokens: ["b"], hold: true } }));
    await first.next("started", 2);
    await settle();
    // The output of two jobs is gathered for 4 ms.
    world.clock.advance(4);
    await first.next("output", 2);
    agent.change({ slots: 1, hardware: makeHardware({ ramBytes: 2 ** 30 }) });
    expect(agent.status()).toMatchObject({ slots: 1, memoryCaps: { ramBytes: 2 ** 30 } });
    await retry(1, FIRST_RETRY_MS);
    const second = await coordinator.session(2);
    const hello = await second.next("hello");
    expect(hello).toMatchObject({ slots: 1, hardware: { ramBytes: 2 ** 30 } });
    expect(hello.held.map(({ jobId }) => jobId)).toEqual(["job_1", "job_2"]);
    await second.welcome({ held: [decide("continue"), { ...decide("continue"), jobId: "job_2" }] });
    second.send(makeAssign({ jobId: "job_3", script: { tokens: ["c"] } }));
    await second.processed();
    expect(second.events.count("started")).toBe(0);
    runtime.go("run");
    await second.next("finished", 3);
    expect(second.events.count("started")).toBe(1);
    expect(first.events.all).not.toContain("finished");
  });

  it("is kept when the offer has not changed", async () => {
    await openWithJob();
    agent.change({ slots: 2, hardware: makeHardware() });
    await settle();
    expect(agent.status().link).toBe("connected");
  });
});
