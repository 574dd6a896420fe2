import { randomUUID } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OutputItem } from "../../shared/output.ts";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import { FakeIsland } from "../support/fake-island.ts";
import { makeHello } from "../support/frames.ts";
import { call, until } from "../support/http.ts";
import { TestCoordinator } from "../support/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open();
  account = await coordinator.createAccount("client@example.com");
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);
const attemptOf = ({ jobId, attempt }: Assign) => ({ jobId, attempt });

async function submit(input: object): Promise<string> {
  return (await api("POST", "/jobs", { workload: "tiny-chat", input })).body.data.id as string;
}

/** What the database would hold, had the coordinator been killed at another moment. */
async function restartAfter(sql: string, jobId: string): Promise<void> {
  await coordinator.stop();
  const database = new Database(join(coordinator.directory, "atoll.db"));
  database.prepare(sql).run(jobId);
  database.close();
  await coordinator.start();
}

async function comeBack(hostId: string, { jobId, attempt, claim }: Assign): Promise<FakeIsland> {
  const island = await FakeIsland.dial(coordinator.url, account.islandToken);
  island.send(makeHello({ hostId, held: [{ jobId, attempt, claim, started: true }] }));
  expect(await island.next("welcome")).toMatchObject({ held: [{ jobId, action: "continue" }] });
  return island;
}

describe("a coordinator that was killed", () => {
  it("before an assignment was durable goes on with it, and charges a cancelled share of it", async () => {
    const hostId = randomUUID();
    const island = await FakeIsland.join(coordinator.url, account.islandToken, { hostId });
    const before = (await api("GET", "/account")).body.data.credits as number;
    const jobId = await submit({ prompt: "Hi", max_tokens: 10 });
    const assign = await island.next("assign");
    await restartAfter("UPDATE jobs SET state = 'pending', attempt = 0, island_id = NULL WHERE id = ?", jobId);
    await using again = await comeBack(hostId, assign);
    const items: OutputItem[] = Array.from({ length: 5 }, () => ({ type: "token", content: "x", count: 1 }));
    again.send({ type: "output", ...attemptOf(assign), seq: 1, items });
    await again.next("ack");
    await api("DELETE", `/jobs/${jobId}`);
    const { body } = await api("GET", `/jobs/${jobId}`);
    expect(body.data).toMatchObject({ status: "cancelled", attempts: 1, usage: { completion_tokens: 5 } });
    const price = (await api("GET", "/cargos/tiny-chat")).body.data.price_per_job as number;
    expect(body.data.usage.credits_used).toBeCloseTo(price / 2, 6);
    expect((await api("GET", "/account")).body.data.credits).toBeCloseTo(before - (price / 2) * 0.1, 6);
  });

  it("for longer than a run may take still takes the result that the Island kept", async () => {
    const hostId = randomUUID();
    const island = await FakeIsland.join(coordinator.url, account.islandToken, { hostId });
    const jobId = await submit({ prompt: "Hi" });
    const assign = await island.next("assign");
    island.send({ type: "started", ...attemptOf(assign) });
    await until(
      () => api("GET", `/jobs/${jobId}`),
      ({ body }) => body.data.status === "running",
      "running",
    );
    await restartAfter("UPDATE jobs SET started_at_ms = started_at_ms - 3600000 WHERE id = ?", jobId);
    await using again = await comeBack(hostId, assign);
    again.send({
      type: "finished",
      ...attemptOf(assign),
      seq: 1,
      finishReason: "stop",
      usage: { promptTokens: 1, completionTokens: 0 },
      timings: { loadMs: 0, firstOutputMs: null, runMs: 1 },
    });
    await again.next("ack");
    expect((await api("GET", `/jobs/${jobId}`)).body.data.status).toBe("completed");
  });
});
