import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashSecret, newSecret } from "../../../../coordinator/accounts/secrets.ts";
import { DEFAULT_LIMITS } from "../../../../coordinator/quotas/account-limits.ts";
import { InsufficientCreditsError } from "../../../../coordinator/credits/credit-errors.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { Api } from "../api.ts";
import { makeJob } from "../scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const SUBMISSION = { workload: "tiny", input: { prompt: "Hi" } };
const submit = (body: unknown = SUBMISSION, headers: Record<string, string> = {}) =>
  api.call("POST", "/jobs", { body, headers });

describe("POST /jobs", () => {
  it("returns 201 with the submitted job", async () => {
    const { status, body } = await submit({ ...SUBMISSION, priority: 9, extra: true });
    expect([status, body]).toEqual([
      201,
      {
        data: {
          id: "job_new1",
          workload_id: 7,
          workload_slug: "tiny",
          status: "submitted",
          input: { prompt: "Hi" },
          created_at: "2026-01-01T00:00:00.000Z",
        },
      },
    ]);
    const { accountId } = api;
    const apiKey = { number: expect.any(Number), cargos: null, monthlyMicro: null, trust: null };
    const request = { slug: "tiny", input: { prompt: "Hi" }, priority: 9, idempotency: null };
    expect(api.jobs.submitted).toEqual([{ accountId, limits: DEFAULT_LIMITS, apiKey, ...request }]);
  });

  it("uses priority 0 by default", async () => {
    await submit();
    expect(api.jobs.submitted[0]?.priority).toBe(0);
  });

  it.each([
    [[], [""]],
    ["text", [""]],
    [null, [""]],
    [{}, ["workload", "input"]],
    [{ workload: 5, input: [] }, ["workload", "input"]],
    [{ workload: "", input: {} }, ["workload"]],
    [{ ...SUBMISSION, priority: -1 }, ["priority"]],
    [{ ...SUBMISSION, priority: 101 }, ["priority"]],
    [{ ...SUBMISSION, priority: 1.5 }, ["priority"]],
    [{ ...SUBMISSION, priority: "5" }, ["priority"]],
    [{ ...SUBMISSION, priority: null }, ["priority"]],
    [{ workload: "tiny", input: { messages: [], max_tokens: 0 } }, ["input.messages", "input.max_tokens"]],
  ])("names every invalid field of %j", async (body, paths) => {
    const response = await submit(JSON.stringify(body));
    expect([response.status, response.body.error.code]).toEqual([422, "validation_failed"]);
    expect(response.body.error.details.map(({ path }: { path: string }) => path)).toEqual(paths);
    expect(Object.keys(response.body.error)).toEqual(["message", "code", "details"]);
    expect(api.jobs.submitted).toEqual([]);
  });

  it("returns 404 for a Cargo that is not in the catalog", async () => {
    const { status, body } = await submit({ ...SUBMISSION, workload: "nothing" });
    expect([status, body]).toEqual([
      404,
      { error: { message: 'There is no Cargo "nothing"', code: "cargo_not_found" } },
    ]);
  });

  it("returns 402 when the balance is too small", async () => {
    api.jobs.failure = new InsufficientCreditsError(2_500_001n, 2_500_000n);
    const { status, body } = await submit();
    const message = "Not enough credits: 2.500001 needed, 2.5 available";
    const facts = { required_credits: 2.500001, balance_credits: 2.5 };
    expect([status, body]).toEqual([402, { error: { message, code: "insufficient_credits", ...facts } }]);
  });

  it("passes an Idempotency-Key on with a hash that depends only on the meaning of the body", async () => {
    const headers = { "idempotency-key": "k".repeat(255) };
    await submit({ workload: "tiny", input: { prompt: "Hi", max_tokens: 5 } }, headers);
    await submit('{ "input": {"max_tokens":5.0,"prompt":"\\u0048i"}, "priority":0, "workload":"tiny" }', headers);
    await submit({ workload: "tiny", input: { prompt: "Hi", max_tokens: 6 } }, headers);
    const [first, same, other] = api.jobs.submitted.map(({ idempotency }) => idempotency);
    expect(first).toEqual({ key: "k".repeat(255), bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
    expect(same).toEqual(first);
    expect(other?.bodyHash).not.toBe(first?.bodyHash);
  });

  it("refuses an Idempotency-Key that is too long or empty, or was used with another body", async () => {
    const tooLong = await submit(SUBMISSION, { "idempotency-key": "k".repeat(256) });
    expect([tooLong.status, tooLong.body.error.details[0].path]).toEqual([422, "Idempotency-Key"]);
    expect((await submit(SUBMISSION, { "idempotency-key": "" })).status).toBe(422);
    api.jobs.failure = new ServiceError("idempotency_conflict", "Used before");
    const conflict = await submit(SUBMISSION, { "idempotency-key": "k" });
    expect([conflict.status, conflict.body.error.code]).toEqual([422, "idempotency_conflict"]);
  });
});

describe("GET /jobs", () => {
  it("returns a page with its position in the list", async () => {
    api.jobs.add(makeJob({ accountId: api.accountId }));
    api.jobs.add(
      makeJob({ id: "job_2", accountId: api.accountId, state: "completed", completedAtMs: 1_767_225_601_500 }),
    );
    const { status, body } = await api.call("GET", "/jobs?limit=5&offset=0");
    expect([status, body]).toEqual([
      200,
      {
        data: [
          {
            id: "job_1",
            workload_slug: "tiny",
            status: "pending",
            created_at: "2026-01-01T00:00:00.000Z",
            completed_at: null,
            batch_id: null,
            workload_id: 7,
            input: { prompt: "hello" },
          },
          {
            id: "job_2",
            workload_slug: "tiny",
            status: "completed",
            created_at: "2026-01-01T00:00:00.000Z",
            completed_at: "2026-01-01T00:00:01.500Z",
            batch_id: null,
            workload_id: 7,
            input: { prompt: "hello" },
          },
        ],
        meta: { total: 2, limit: 5, offset: 0 },
      },
    ]);
  });

  it.each([
    ["", { limit: 20, offset: 0 }, {}],
    ["?limit=1&offset=7", { limit: 1, offset: 7 }, {}],
    ["?limit=100", { limit: 100, offset: 0 }, {}],
    ["?status=running", { limit: 20, offset: 0 }, { states: ["running"] }],
    ["?status=pending,%20queued,pending", { limit: 20, offset: 0 }, { states: ["pending", "queued"] }],
    ["?workload=tiny&status=failed", { limit: 20, offset: 0 }, { states: ["failed"], slug: "tiny" }],
  ])("reads the query %j", async (query, page, filter) => {
    expect((await api.call("GET", `/jobs${query}`)).status).toBe(200);
    expect(api.jobs.listed).toEqual([{ page, filter }]);
  });

  it.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=abc", "limit"],
    ["limit=", "limit"],
    ["limit=1e1", "limit"],
    ["limit=5.5", "limit"],
    ["limit=%2B5", "limit"],
    ["offset=-1", "offset"],
    ["offset=9999999999999999999", "offset"],
    ["status=done", "status.0"],
    ["status=", "status.0"],
    ["status=pending,submitted", "status.1"],
  ])("refuses the query %j", async (query, path) => {
    const { status, body } = await api.call("GET", `/jobs?${query}`);
    expect([status, body.error.code, body.error.details[0].path]).toEqual([422, "validation_failed", path]);
  });

  it("names every invalid parameter", async () => {
    const { body } = await api.call("GET", "/jobs?limit=0&offset=x&status=y");
    expect(body.error.details.map(({ path }: { path: string }) => path)).toEqual(["limit", "offset", "status.0"]);
  });
});

describe("GET /jobs/:id", () => {
  it("shows a reserved Island only to an operator's session", async () => {
    const { accountId, store, clock } = api;
    api.jobs.add(makeJob({ accountId, placement: { choice: null, reservedIslandId: "isle-9" } }));
    const key = newSecret("st");
    const times = { createdAtMs: clock.now(), expiresAtMs: clock.now() + 1_000_000 };
    await store.accounts.createSession({ tokenHash: hashSecret(key), accountId, ...times }, 5);
    const shown = async (caller: object) => (await api.call("GET", "/jobs/job_1", caller)).body.data.placement;
    expect(await shown({ key })).toBeNull();
    await store.operators.setRole(accountId, "operator");
    const reserved = { reason: null, island_id: null, candidates: [], reserved_island_id: "isle-9" };
    expect([await shown({ key }), await shown({})]).toEqual([reserved, null]);
  });

  it("returns a waiting job with the reason", async () => {
    const waiting = { reason: "all_busy" as const, position: 3, message: "2 Islands fit, but all are busy" };
    api.jobs.add(makeJob({ accountId: api.accountId, priority: 5, waiting }));
    const { status, body } = await api.call("GET", "/jobs/job_1");
    expect([status, body]).toEqual([
      200,
      {
        data: {
          id: "job_1",
          workload_id: 7,
          workload_slug: "tiny",
          status: "pending",
          priority: 5,
          trust: "any",
          audit: "default",
          input: { prompt: "hello" },
          input_removed_at: null,
          output_removed_at: null,
          output: null,
          usage: null,
          created_at: "2026-01-01T00:00:00.000Z",
          started_at: null,
          completed_at: null,
          duration_ms: null,
          finish_reason: null,
          error: null,
          attempts: 0,
          island_id: null,
          waiting: { ...waiting, percent: null, phase: null },
          placement: null,
          verification: null,
          timings: null,
          batch_id: null,
          ignored: [],
          webhook: null,
        },
      },
    ]);
  });

  it("returns a completed job with output, usage and times", async () => {
    api.jobs.add(
      makeJob({
        accountId: api.accountId,
        state: "completed",
        attempt: 2,
        islandId: "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
        startedAtMs: 1_767_225_600_250,
        completedAtMs: 1_767_225_602_000,
        output: "Hello",
        usage: { promptTokens: 3, completionTokens: 2 },
        creditsUsedMicro: 1_234_567,
        finishReason: "length",
        timings: { loadMs: 1.5, firstOutputMs: null, runMs: 20 },
      }),
    );
    const { data } = (await api.call("GET", "/jobs/job_1")).body;
    expect(data).toMatchObject({
      status: "completed",
      output: "Hello",
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, credits_used: 1.234567 },
      started_at: "2026-01-01T00:00:00.250Z",
      completed_at: "2026-01-01T00:00:02.000Z",
      duration_ms: 1_750,
      finish_reason: "length",
      attempts: 2,
      island_id: "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
      waiting: null,
      timings: { load_ms: 1.5, first_output_ms: null, run_ms: 20 },
    });
  });

  it.each([[{ format: "png", data: "aGk=" }], [[0.5]], [0], [false]])(
    "returns the output %j unchanged",
    async (output) => {
      api.jobs.add(makeJob({ accountId: api.accountId, state: "completed", output }));
      expect((await api.call("GET", "/jobs/job_1")).body.data.output).toEqual(output);
    },
  );

  it("returns why a job failed, without a charge", async () => {
    const error = { code: "out_of_memory" as const, message: "too big", retryable: true };
    api.jobs.add(makeJob({ accountId: api.accountId, state: "failed", error, completedAtMs: 1_767_225_602_000 }));
    const { data } = (await api.call("GET", "/jobs/job_1")).body;
    expect([data.error, data.usage, data.output, data.duration_ms]).toEqual([
      error,
      { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, credits_used: 0 },
      null,
      null,
    ]);
  });
});

describe("DELETE /jobs/:id", () => {
  it("cancels a job, and refuses a second time", async () => {
    api.jobs.add(makeJob({ accountId: api.accountId }));
    const first = await api.call("DELETE", "/jobs/job_1");
    expect([first.status, first.body]).toEqual([200, { data: { id: "job_1", status: "cancelled" } }]);
    const second = await api.call("DELETE", "/jobs/job_1");
    expect([second.status, second.body.error.code]).toEqual([422, "job_not_cancellable"]);
  });
});

describe("DELETE /jobs/:id/content", () => {
  it("removes input and output of an ended job, and keeps its state", async () => {
    api.jobs.add(makeJob({ accountId: api.accountId, state: "cancelled" }));
    const deleted = await api.call("DELETE", "/jobs/job_1/content");
    expect([deleted.status, deleted.body]).toEqual([200, { data: { id: "job_1", deleted: true } }]);
    const { data } = (await api.call("GET", "/jobs/job_1")).body;
    expect([data.status, data.input, data.input_removed_at]).toEqual(["cancelled", {}, "2026-01-01T00:00:00.000Z"]);
  });
});

describe.each([
  "GET /jobs/job_none",
  "DELETE /jobs/job_none",
  "DELETE /jobs/job_none/content",
  "GET /jobs/job_1",
  "DELETE /jobs/job_1",
  "DELETE /jobs/job_1/content",
])("%s", (route) => {
  it("returns 404 for a job of another account", async () => {
    api.jobs.add(makeJob({ accountId: "user_other" }));
    const [method = "", path = ""] = route.split(" ");
    const { status, body } = await api.call(method, path);
    expect([status, body.error.code]).toEqual([404, "not_found"]);
    expect(api.jobs.cancelled).toEqual([]);
  });
});
