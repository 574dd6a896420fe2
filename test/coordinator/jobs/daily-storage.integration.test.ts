import { afterEach, beforeEach, expect, it } from "vitest";
import { call } from "../../support/http.ts";
import { TestCoordinator } from "../../support/test-coordinator.ts";

let coordinator: TestCoordinator;
let key: string;
beforeEach(async () => {
  coordinator = await TestCoordinator.open({ accountMbPerDay: 1 });
  ({ key } = await coordinator.createAccount("client@example.com"));
});
afterEach(() => coordinator[Symbol.asyncDispose]());

it("inputs count to what an account's jobs may store in a day, single and in batches", async () => {
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
