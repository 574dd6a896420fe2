import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { makeHello } from "../../support/network/frames.ts";
import { signIn } from "../../support/operator.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let operator: string;
beforeAll(async () => {
  coordinator = await TestCoordinator.open();
  operator = await signIn(coordinator, "op@example.com", { isOperator: true });
});
afterAll(() => coordinator[Symbol.asyncDispose]());

/** Joins an Island and retries, because a suspension at another coordinator is noticed within a second. */
const joined = async (islandToken: string, hello: Parameters<typeof FakeIsland.join>[2]): Promise<FakeIsland> => {
  const island = await until(
    () => FakeIsland.join(coordinator.url, islandToken, hello).catch(() => null),
    (joining) => joining !== null,
    "let in again",
  );
  if (island === null) throw new Error("The Island is not let in");
  return island;
};

const ask = (key: string, method: string, path: string, body?: unknown) =>
  call(coordinator.url, key, method, path, body);

describe("a suspension", () => {
  it("of an account ends its streams, jobs and Islands, and rejects its requests until it is reinstated", async () => {
    const [host, client] = [
      await coordinator.createAccount("host@example.com"),
      await coordinator.createAccount("client@example.com"),
    ];
    const hello = makeHello({ hostId: randomUUID() });
    const island = await FakeIsland.join(coordinator.url, host.islandToken, hello);
    const { body: other } = await ask(client.key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "hi" } });
    await island.next("assign");
    const { body: own } = await ask(host.key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "hi" } });
    const stream = await fetch(`${coordinator.url}/api/v1/jobs/${own.data.id}/stream`, {
      headers: { authorization: `Bearer ${host.key}` },
    });
    await using second = await FakeIsland.join(coordinator.url, client.islandToken, { hostId: randomUUID() });

    expect((await ask(operator, "POST", `/operator/accounts/${host.id}/suspension`, { reason: "spam" })).status).toBe(
      200,
    );
    expect(await island.next("goodbye")).toMatchObject({
      reason: "the operator suspended this Island's account: spam",
      retryAfterMs: 60_000,
    });
    // The stream was cut off, or read to its end if the job was cancelled first.
    await stream.text().catch(() => undefined);
    expect((await ask(host.key, "GET", "/account")).body.error.code).toBe("account_suspended");
    // The job of another account on the Island continues on another Island.
    await second.next("assign", ({ jobId }) => jobId === other.data.id);
    const jobs = await ask(operator, "GET", `/operator/jobs?account=${host.id}`);
    expect(jobs.body.data).toMatchObject([{ id: own.data.id, status: "cancelled" }]);
    await expect(FakeIsland.join(coordinator.url, host.islandToken, hello)).rejects.toThrow(/403/);

    expect((await ask(operator, "DELETE", `/operator/accounts/${host.id}/suspension`)).status).toBe(200);
    expect((await ask(host.key, "GET", "/account")).status).toBe(200);
    await using _back = await joined(host.islandToken, hello);
  });

  it("of an Island moves its jobs to others, and keeps it away until it is reinstated", async () => {
    const host = await coordinator.createAccount("other-host@example.com");
    const hostId = randomUUID();
    const island = await FakeIsland.join(coordinator.url, host.islandToken, { hostId });
    const { body: job } = await ask(host.key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "hi" } });
    await island.next("assign");
    await using second = await FakeIsland.join(coordinator.url, host.islandToken, { hostId: randomUUID() });
    expect((await ask(operator, "POST", `/operator/islands/${hostId}/suspension`, { reason: "lies" })).status).toBe(
      200,
    );
    const farewell = { reason: "the operator suspended this Island: lies", retryAfterMs: 60_000 };
    expect(await island.next("goodbye")).toMatchObject(farewell);
    expect((await second.next("assign")).jobId).toBe(job.data.id);
    const { body: shown } = await until(
      () => ask(host.key, "GET", `/islands/${hostId}`),
      ({ body }) => body.data.status === "suspended",
      "suspended",
    );
    expect(shown.data.suspended_because).toBe(farewell.reason);
    const { body: listed } = await ask(operator, "GET", `/operator/islands?account=${host.id}`);
    expect(listed.data.map(({ id, status }: { id: string; status: string }) => [id, status])).toContainEqual([
      hostId,
      "suspended",
    ]);
    const refused = await FakeIsland.dial(coordinator.url, host.islandToken);
    refused.send(makeHello({ hostId }));
    expect(await refused.next("goodbye")).toMatchObject(farewell);
    expect((await ask(operator, "DELETE", `/operator/islands/${hostId}/suspension`)).status).toBe(200);
    await using _back = await joined(host.islandToken, { hostId });
    await until(
      () => ask(host.key, "GET", `/islands/${hostId}`),
      ({ body }) => body.data.status === "online",
      "online",
    );
  });

  it("by another process is in force too", async () => {
    const client = await coordinator.createAccount("later@example.com");
    const { body: job } = await ask(client.key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "hi" } });
    await coordinator.withStore((store) => store.operators.suspendAccount(client.id, { reason: "spam", atMs: 1 }));
    await until(
      async () => (await ask(operator, "GET", `/operator/jobs?account=${client.id}`)).body.data[0],
      ({ id, status }) => id === job.data.id && status === "cancelled",
      "cancelled",
    );
    expect((await ask(client.key, "GET", "/jobs")).status).toBe(403);
  });

  it("of an account ends its batches, event streams and sessions, and keeps its credits", async () => {
    const client = await coordinator.createAccount("batches@example.com");
    const { body: before } = await ask(client.key, "GET", "/account");
    const inputs = Array.from({ length: 25 }, () => ({ prompt: "hi" }));
    const { body: batch } = await ask(client.key, "POST", "/jobs/batch", { workload: "tiny-chat", inputs });
    const events = await fetch(`${coordinator.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${client.key}` },
    });
    await ask(operator, "POST", `/operator/accounts/${client.id}/suspension`, { reason: "spam" });
    await expect(events.text()).rejects.toThrow(/terminated/);
    const { body: known } = await until(
      () => ask(operator, "GET", `/operator/accounts/${client.id}`),
      ({ body }) => body.data.unfinished_jobs === 0,
      "no unfinished job",
    );
    expect(known.data).toMatchObject({ credits: before.data.credits, held: 0 });
    await ask(operator, "DELETE", `/operator/accounts/${client.id}/suspension`);
    expect((await ask(client.key, "GET", `/jobs/batch/${batch.data.id}`)).body.data).toMatchObject({
      counts: { cancelled: 25 },
    });
    expect((await ask(client.key, "GET", "/account")).body.data.credits).toBe(before.data.credits);
  });

  it("of accounts and Islands persists across a restart", async () => {
    const [client, host] = [
      await coordinator.createAccount("before@example.com"),
      await coordinator.createAccount("before-host@example.com"),
    ];
    const hostId = randomUUID();
    const island = await FakeIsland.join(coordinator.url, host.islandToken, { hostId });
    await ask(operator, "POST", `/operator/accounts/${client.id}/suspension`, { reason: "spam" });
    await ask(operator, "POST", `/operator/islands/${hostId}/suspension`, { reason: "lies" });
    await island.next("goodbye");
    await coordinator.stop();
    await coordinator.start();
    expect((await ask(client.key, "GET", "/jobs")).body.error.code).toBe("account_suspended");
    const refused = await FakeIsland.dial(coordinator.url, host.islandToken);
    refused.send(makeHello({ hostId }));
    expect(await refused.next("goodbye")).toMatchObject({ reason: "the operator suspended this Island: lies" });
    // The suspension applies even to an Island that its owner removed and that joins again.
    await ask(host.key, "DELETE", `/islands/${hostId}`);
    const { body: made } = await ask(host.key, "POST", "/island-tokens", { name: "new" });
    const again = await FakeIsland.dial(coordinator.url, made.token);
    again.send(makeHello({ hostId }));
    expect(await again.next("goodbye")).toMatchObject({ reason: "the operator suspended this Island: lies" });
    await ask(operator, "DELETE", `/operator/islands/${hostId}/suspension`);
    await using _back = await joined(made.token, { hostId });
  });
});

describe("GET /operator/overview and GET /operator/queue", () => {
  it("show what runs, what waits, and why", async () => {
    const host = await coordinator.createAccount("metrics@example.com");
    const hostId = randomUUID();
    await using island = await FakeIsland.join(coordinator.url, host.islandToken, { hostId, slots: 2 });
    const { body: job } = await ask(host.key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "hi" } });
    const assign = await island.next("assign");
    expect(assign.jobId).toBe(job.data.id);
    await ask(host.key, "POST", "/jobs", { workload: "base64", input: { data: "hi" } });
    const overview = await until(
      async () => (await ask(operator, "GET", "/operator/overview")).body.data,
      ({ jobs }) => jobs.waiting > 0,
      "a waiting job",
    );
    expect(overview.islands.online).toBeGreaterThan(0);
    expect(overview.slots.all).toBeGreaterThanOrEqual(2);
    expect(overview.jobs.running).toBeGreaterThan(0);
    expect(overview.is_complete).toBe(true);
    expect(overview.work_last_10_minutes.islands).toContainEqual({
      island_id: hostId,
      slots: 2,
      completion_tokens: 0,
      cached_prompt_tokens: 0,
    });
    expect(overview.coordinators.every(({ answers }: { answers: boolean }) => answers)).toBe(true);
    const { body: queue } = await until(
      () => ask(operator, "GET", "/operator/queue"),
      ({ body }) => body.data.some((line: { workload_slug: string }) => line.workload_slug === "base64"),
      "in the queue",
    );
    expect(queue.is_complete).toBe(true);
    // The job may be at a coordinator that only knows that no other one has an Island for it.
    const reason = expect.stringMatching(/^no_island_(offers_runtime|fits)$/) as string;
    expect(queue.data).toContainEqual(expect.objectContaining({ workload_slug: "base64", jobs: 1, reason }));
    expect(overview.waiting_by_reason).toContainEqual({ reason, jobs: 1 });
  });
});
