import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OutputItem } from "../../../shared/output.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { Atoll } from "../../../sdk/typescript/src/index.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeHello } from "../../support/network/frames.ts";
import { call, collect, jobEvents, textOf, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

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

/** Restarts the coordinator after `sql` has set the database to the state of another moment of the crash. */
async function restartAfter(sql: string, jobId: string): Promise<void> {
  await coordinator.stop();
  coordinator.runSql(sql, jobId);
  await coordinator.start();
}

async function comeBack(hostId: string, { jobId, attempt, claim }: Assign): Promise<FakeIsland> {
  const island = await FakeIsland.dial(coordinator.url, account.islandToken);
  island.send(makeHello({ hostId, held: [{ jobId, attempt, claim, started: true }] }));
  expect(await island.next("welcome")).toMatchObject({ held: [{ jobId, action: "continue" }] });
  return island;
}

/** Returns a running job with the output "a" that was acknowledged to its Island. */
async function relayFirstFrame() {
  const hostId = randomUUID();
  const island = await FakeIsland.join(coordinator.url, account.islandToken, { hostId });
  const jobId = await submit({ prompt: "Hi", max_tokens: 10 });
  const assign = await island.next("assign");
  island.send(...beginFrames(assign), outputFrame(assign, 1, "a"));
  await island.next("ack");
  return { hostId, island, jobId, assign };
}

/**
 * Returns a job whose client received "a" in one frame and "b" and "c" in the next, with the event ids of "a" and "c".
 */
async function relayTwoFrames() {
  const { hostId, island, jobId, assign } = await relayFirstFrame();
  island.send(outputFrame(assign, 2, "b", "c"));
  const ids = new Map<string, string>();
  for await (const { event, id, data } of jobEvents(coordinator.url, account.key, jobId)) {
    if (event === "token") ids.set(data.content as string, id);
    if (ids.has("c")) break;
  }
  return { hostId, jobId, assign, ids: { a: ids.get("a") ?? "", c: ids.get("c") ?? "" } };
}

describe("a coordinator after a crash", () => {
  it("continues a job whose assignment was not durable, and charges its delivered tokens on cancel", async () => {
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
    // 5 tokens at 16 micro-credits. The account owns the Island and earns nine tenths of them.
    expect(body.data.usage.credits_used).toBe(0.000_08);
    expect((await api("GET", "/account")).body.data.credits).toBeCloseTo(before - 0.000_008, 9);
  });

  it("starts even if the Island of a running job is unknown, and accepts its return with the job", async () => {
    const forget = "DELETE FROM islands WHERE host_id = (SELECT island_id FROM jobs WHERE id = ?)";
    for (const comesBack of [true, false]) {
      const { hostId, jobId, assign } = await relayFirstFrame();
      // Another 1,000 hosts of the account joined, or the account was deleted.
      await restartAfter(forget, jobId);
      await using next = comesBack
        ? await comeBack(hostId, assign)
        : await FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID() });
      const present = comesBack ? assign : await next.next("assign");
      const seq = comesBack ? 2 : 1;
      next.send(
        ...(comesBack ? [] : beginFrames(present)),
        outputFrame(present, seq, "b"),
        finishedFrame(present, seq + 1),
      );
      await next.next("ack", (ack) => ack.seq === seq + 1);
      const { body } = await api("GET", `/jobs/${jobId}`);
      expect(body.data).toMatchObject({ status: "completed", output: "ab", attempts: comesBack ? 1 : 2 });
    }
  });

  it("continues relayed output that was not stored, at the exact position, once its Island resends it", async () => {
    const { hostId, jobId, assign, ids } = await relayTwoFrames();
    await restartAfter("DELETE FROM feed_chunks WHERE job_id = ? AND seq > 1", jobId);
    const resumed = collect(jobEvents(coordinator.url, account.key, jobId, { lastEventId: ids.c }));
    await using again = await comeBack(hostId, assign);
    again.send(outputFrame(assign, 2, "b", "c"), outputFrame(assign, 3, "d"), finishedFrame(assign, 4));
    const events = await resumed;
    expect([textOf(events), events.at(-1)?.event]).toEqual(["d", "done"]);
  });

  it("reports relayed output that was not stored as lost once another Island continues without it", async () => {
    const { jobId, ids } = await relayTwoFrames();
    coordinator.withFlags({ restartGraceS: 0.1 });
    await restartAfter("DELETE FROM feed_chunks WHERE job_id = ? AND seq > 1", jobId);
    // It is not yet known whether the Island returns.
    const waiting = collect(jobEvents(coordinator.url, account.key, jobId, { lastEventId: ids.c }));
    const client = new Atoll({ baseUrl: coordinator.url, apiKey: account.key });
    const streamed = collect(client.jobs.stream(jobId, { lastEventId: ids.c }));
    await using other = await FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID() });
    const next = await other.next("assign");
    expect([next.attempt, next.resume]).toEqual([2, { text: "a", tokens: 1 }]);
    other.send(...beginFrames(next), outputFrame(next, 1, "x", "y"));
    expect((await waiting).filter(({ event }) => event !== "status")).toEqual([]);
    other.send(outputFrame(next, 2, "z"), finishedFrame(next, 3));
    await other.next("ack", ({ seq }) => seq === 3);

    const events = await streamed;
    const restartedAt = events.findIndex(({ type }) => type === "restart");
    expect(events.slice(0, restartedAt).filter(({ type }) => type !== "status")).toEqual([]);
    const after = events.slice(restartedAt);
    expect(after.map((event) => (event.type === "token" ? event.content : "")).join("")).toBe("axyz");
    expect(after.at(-1)?.type).toBe("done");
    for (const round of ["live", "stored"]) {
      const refused = await api("GET", `/jobs/${jobId}/stream?last_event_id=${ids.c}`);
      expect([round, refused.status, refused.body.error.code]).toEqual([round, 422, "position_lost"]);
      const good = await collect(jobEvents(coordinator.url, account.key, jobId, { lastEventId: ids.a }));
      expect(textOf(good)).toBe("xyz");
      await coordinator.stop();
      await coordinator.start();
    }
  });

  it("gives the reading of an audit only to the Islands of its reader", async () => {
    const reader = await coordinator.createAccount("reader@example.com");
    const jobId = await submit({ prompt: "Hi" });
    const terms = JSON.stringify({ trust: "any", audit: "default", reader: reader.id });
    await restartAfter(`UPDATE jobs SET terms = '${terms}' WHERE id = ?`, jobId);
    await using _other = await FakeIsland.join(coordinator.url, account.islandToken, { hostId: randomUUID() });
    expect((await api("GET", `/jobs/${jobId}`)).body.data).toMatchObject({
      status: "pending",
      waiting: { reason: "own_islands_only" },
    });
    await using island = await FakeIsland.join(coordinator.url, reader.islandToken, { hostId: randomUUID() });
    expect(await island.next("assign")).toMatchObject({ jobId });
  });

  it("accepts a result that the Island kept for longer than the run limit", async () => {
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
