import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open();
  account = await coordinator.createAccount("client@example.com", 1_000, {
    requestsPerMinute: null,
    concurrentJobs: 2,
  });
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const JOB = { workload: "tiny-chat", input: { prompt: "Hi" } };
const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(coordinator.url, account.key, method, path, body, headers);
const submit = (idempotencyKey?: string) =>
  api("POST", "/jobs", JOB, idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey });
const idOf = async (answer: ReturnType<typeof submit>): Promise<string> => (await answer).body.data.id as string;

describe("an account's limit of unfinished jobs", () => {
  it("refuses one more job with 429 and Retry-After, and stores and holds nothing", async () => {
    expect([(await submit()).status, (await submit()).status]).toEqual([201, 201]);
    const { status, headers, body } = await submit();
    expect([status, headers.get("retry-after"), body]).toEqual([
      429,
      "5",
      { error: { message: expect.any(String), code: "rate_limited", retry_after: 5, limit: "concurrent_jobs" } },
    ]);
    expect(headers.get("x-ratelimit-limit")).toBe("100");
    expect((await api("GET", "/jobs")).body.meta.total).toBe(2);
  });

  it("admits concurrent submissions up to the limit", async () => {
    const statuses = (await Promise.all(Array.from({ length: 12 }, () => submit()))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(2);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });

  it("counts each account's jobs separately", async () => {
    await Promise.all([submit(), submit()]);
    const other = await coordinator.createAccount("other@example.com");
    expect((await call(coordinator.url, other.key, "POST", "/jobs", JOB)).status).toBe(201);
  });

  it("counts a chat as a job", async () => {
    await Promise.all([submit(), submit()]);
    const chat = await api("POST", "/chat/completions", { messages: [{ role: "user", content: "Hi" }] });
    expect([chat.status, chat.body.error.limit]).toEqual([429, "concurrent_jobs"]);
  });

  it("releases the slot of a cancelled job by the time of the response", async () => {
    const [first] = await Promise.all([idOf(submit()), submit()]);
    expect((await submit()).status).toBe(429);
    expect((await api("DELETE", `/jobs/${first}`)).status).toBe(200);
    expect((await submit()).status).toBe(201);
    expect((await submit()).status).toBe(429);
  });

  it("releases the slot of a job that completed, failed or could not be paid", async () => {
    await using island = await FakeIsland.join(coordinator.url, account.islandToken);
    for (const end of ["finished", "failed"] as const) {
      await Promise.all([submit(), submit()]);
      for (let i = 0; i < 2; i += 1) {
        const { jobId, attempt } = await island.next("assign");
        island.send({ type: "started", jobId, attempt });
        if (end === "failed") {
          island.send({
            type: "failed",
            jobId,
            attempt,
            seq: 1,
            code: "invalid_input",
            message: "no",
            retryable: false,
          });
        } else {
          const timings = { loadMs: 1, firstOutputMs: 1, runMs: 10 };
          const usage = { promptTokens: 1, completionTokens: 1 };
          island.send({ type: "finished", jobId, attempt, seq: 1, finishReason: "stop", usage, timings });
        }
        await island.next("ack");
      }
    }
    account = await coordinator.createAccount("poor@example.com", 0, { concurrentJobs: 1 });
    expect([(await submit()).status, (await submit()).status]).toEqual([402, 402]);
    expect((await api("POST", "/jobs", { ...JOB, input: {} })).status).toBe(422);
    expect((await submit()).status).toBe(402);
  });

  it("returns the result of a repeated request at any count, without taking a slot", async () => {
    const first = await idOf(submit("a"));
    expect(await idOf(submit("a"))).toBe(first);
    const second = await idOf(submit("b"));
    expect([await idOf(submit("a")), await idOf(submit("b"))]).toEqual([first, second]);
    expect((await submit("c")).status).toBe(429);
    const other = { ...JOB, priority: 1 };
    expect((await api("POST", "/jobs", other, { "idempotency-key": "a" })).body.error.code).toBe(
      "idempotency_conflict",
    );
    await api("DELETE", `/jobs/${first}`);
    expect((await submit("c")).status).toBe(201);
  });

  it("takes the last slot once if a request is repeated while the first is in flight", async () => {
    await submit();
    const ids = await Promise.all(Array.from({ length: 8 }, () => idOf(submit("a"))));
    expect(new Set(ids).size).toBe(1);
  });

  it("is counted again after a restart", async () => {
    const ids = await Promise.all([idOf(submit()), idOf(submit())]);
    await coordinator.stop();
    await coordinator.start();
    expect((await submit()).status).toBe(429);
    await api("DELETE", `/jobs/${ids[0]}`);
    expect((await submit()).status).toBe(201);
  });

  it("applies a change of the limit at once, but a lower limit ends no job", async () => {
    await Promise.all([submit(), submit()]);
    const setLimit = (concurrentJobs: number | null) =>
      coordinator.withStore((store) => store.accounts.setLimits(account.id, { concurrentJobs }));
    await setLimit(3);
    expect([(await submit()).status, (await submit()).status]).toEqual([201, 429]);
    await setLimit(1);
    expect((await api("GET", "/jobs?status=pending")).body.meta.total).toBe(3);
    await setLimit(null);
    expect((await submit()).status).toBe(201);
  });
});
