import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { beginFrames, outputFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let key: string;
let islandToken: string;
beforeEach(async () => {
  coordinator = await TestCoordinator.open({ accountMbPerDay: 1 });
  ({ key, islandToken } = await coordinator.createAccount("client@example.com"));
});
afterEach(() => coordinator[Symbol.asyncDispose]());

it("inputs count towards the account's daily storage, for single jobs and batches", async () => {
  const input = { prompt: "x".repeat(200_000) };
  const submit = (path: string, body: object) =>
    call(coordinator.url, key, "POST", path, { workload: "tiny-chat", ...body });
  expect((await submit("/jobs/batch", { inputs: [input, input, input] })).status).toBe(201);
  expect((await submit("/jobs", { input })).status).toBe(201);
  expect((await submit("/jobs", { input })).status).toBe(201);
  for (const [path, body] of [
    ["/jobs", { input }],
    ["/jobs/batch", { inputs: [input] }],
  ] as const) {
    const refused = await submit(path, body);
    expect([refused.status, refused.body.error]).toMatchObject([429, { code: "rate_limited", limit: "daily_storage" }]);
  }
  expect((await submit("/jobs", { input: { prompt: "Hi" } })).status).toBe(201);
});

it("a job whose output exceeds the account's daily storage fails, and its delivered output is charged", async () => {
  await using island = await FakeIsland.join(coordinator.url, islandToken, { hostId: randomUUID() });
  const input = { prompt: "Hi", max_tokens: 2_000 };
  const { body } = await call(coordinator.url, key, "POST", "/jobs", { workload: "tiny-chat", input });
  const assign = await island.next("assign");
  const text = "x".repeat(600_000);
  island.send(...beginFrames(assign), outputFrame(assign, 1, text), outputFrame(assign, 2, text));
  const job = await until(
    async () => (await call(coordinator.url, key, "GET", `/jobs/${body.data.id}`)).body.data,
    ({ completed_at }) => completed_at !== null,
    "the end",
  );
  expect([job.status, job.error.code]).toEqual(["failed", "output_too_large"]);
  // One token was delivered.
  expect(job.usage).toMatchObject({ completion_tokens: 1, credits_used: 0.000_016 });
});
