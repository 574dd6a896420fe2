import { describe, expect, it } from "vitest";
import { ResponseValidator, currentDocument, type ReceivedResponse } from "../../support/http/openapi.ts";

const check = new ResponseValidator(currentDocument());
const JSON_HEADERS = {
  "content-type": "application/json",
  "x-request-id": "r",
  "x-ratelimit-limit": "100",
  "x-ratelimit-remaining": "99",
  "x-ratelimit-reset": "1767225660",
};
const ACCOUNT = {
  id: "user_1",
  email: "a@example.com",
  credits: 1.5,
  role: "user",
  created_at: "2026-01-01T00:00:00.000Z",
};

function answer(
  override: Partial<Omit<ReceivedResponse, "headers" | "body">> & { headers?: object; body?: unknown } = {},
): ReceivedResponse {
  const { headers = {}, body = { data: ACCOUNT }, ...rest } = override;
  return {
    method: "GET",
    path: "/api/v1/account",
    status: 200,
    headers: new Headers({ ...JSON_HEADERS, ...headers }),
    body: JSON.stringify(body),
    ...rest,
  };
}

const refused = (override: Parameters<typeof answer>[0]) =>
  answer({ headers: { "x-should-retry": "false" }, ...override });

describe("ResponseValidator", () => {
  it("accepts a response that matches the document", () => {
    expect(check.problems(answer())).toEqual([]);
  });

  it("finds undocumented members at any depth, missing ones and ones of another type", () => {
    const found = [
      { data: { ...ACCOUNT, extra: 1 } },
      { data: ACCOUNT, extra: 1 },
      { data: { ...ACCOUNT, email: undefined } },
      { data: { ...ACCOUNT, credits: "1.5" } },
      { data: { ...ACCOUNT, created_at: "yesterday" } },
      null,
    ].map((body) => check.problems(answer({ body })).length);
    expect(found).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it("finds undocumented statuses, paths and content types", () => {
    const error = { error: { message: "no", code: "not_found" } };
    expect(check.problems(answer({ status: 418 }))).toEqual(["GET /api/v1/account answered 418: not documented"]);
    expect(check.problems(answer({ path: "/api/v1/nothing" }))).toHaveLength(1);
    expect(check.problems(refused({ path: "/api/v1/nothing", status: 404, body: error }))).toEqual([]);
    expect(check.problems(refused({ method: "PUT", status: 405, body: error }))).toEqual([]);
    expect(check.problems(refused({ method: "PUT", status: 404, body: error }))).toHaveLength(1);
    expect(check.problems(answer({ headers: { "content-type": "text/html" } }))).toHaveLength(1);
  });

  it("finds headers that are missing or not numbers, and a code that its status does not have", () => {
    const headers = new Headers(JSON_HEADERS);
    headers.delete("x-ratelimit-reset");
    expect(check.problems({ ...answer(), headers })).toEqual([
      "GET /api/v1/account answered 200: the header X-RateLimit-Reset is missing",
    ]);
    expect(check.problems(answer({ headers: { "x-ratelimit-limit": "many" } }))).toHaveLength(1);
    const wrong = { error: { message: "no", code: "not_found" } };
    expect(check.problems(refused({ status: 403, body: wrong }))).toHaveLength(1);
  });

  it("requires the members that OpenAI's clients read on OpenAI's paths, and forbids them on others", () => {
    const plain = { error: { message: "no", code: "cargo_not_found" } };
    const openAi = {
      error: { message: "no", code: "model_not_found", type: "invalid_request_error", param: null },
    };
    const found = (path: string, body: unknown) => check.problems(refused({ path, status: 404, body })).length;
    expect([found("/api/v1/models/x", openAi), found("/api/v1/models/x", plain)]).toEqual([0, 1]);
    expect([found("/api/v1/cargos/x", openAi), found("/api/v1/cargos/x", plain)]).toEqual([1, 0]);
  });

  it("accepts 400 instead of 422 only on the paths of vendors' clients", () => {
    const body = { error: { message: "no", code: "validation_failed", type: "invalid_request_error", param: null } };
    const found = (path: string) => check.problems(refused({ method: "POST", path, status: 400, body })).length;
    expect(["/v1/rerank", "/v2/rerank", "/api/v1/rerank"].map(found)).toEqual([0, 0, 1]);
  });

  it("uses the more exact of two paths, or the other if the first has no such method", () => {
    expect(check.operation("POST", "/api/v1/jobs/batch")?.operationId).toBe("submitBatch");
    expect(check.operation("GET", "/api/v1/jobs/batch")?.operationId).toBe("getJob");
    expect(check.operation("HEAD", "/api/v1/jobs/job_1/output")?.operationId).toBe("getJobOutput");
    expect(check.operation("PUT", "/api/v1/jobs")).toBeUndefined();
  });

  it.each([
    ["token", { type: "token", content: "a" }, 0],
    ["token", { type: "token", content: "a", more: 1 }, 1],
    ["status", { type: "token", content: "a" }, 1],
    ["tokens", { type: "tokens", content: "a" }, 1],
    ["error", { type: "error", error: "no", code: "run_timeout", retryable: false }, 0],
    ["error", { type: "error", error: "no", code: "other", retryable: false }, 1],
  ])("finds faults in a stream's event %s %j: %i", (event, data, count) => {
    const head = answer({ path: "/api/v1/jobs/job_1/stream", headers: { "content-type": "text/event-stream" } });
    expect(check.eventProblems(head, { event, data: JSON.stringify(data) })).toHaveLength(count);
  });

  it("accepts chunks, one error and [DONE] in a chat's stream", () => {
    const head = answer({ method: "POST", path: "/api/v1/chat/completions" });
    const faults = (data: string) => check.eventProblems(head, { event: null, data }).length;
    const error = { message: "no", type: "server_error", param: null, code: "run_timeout", retryable: false };
    const found = [faults("[DONE]"), faults(JSON.stringify({ error })), faults("{}"), faults("{")];
    expect(found).toEqual([0, 0, 1, 1]);
  });

  it("finds undocumented members of a webhook", () => {
    const { post } = currentDocument().webhooks["job-ended"] ?? {};
    const example = post?.requestBody?.content["application/json"]?.example as { type: string; data: object };
    expect(check.webhookProblems(example)).toEqual([]);
    expect(check.webhookProblems({ ...example, data: { ...example.data, secret: "x" } } as never)).toHaveLength(1);
  });
});
