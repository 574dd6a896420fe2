import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RateLimitedError } from "../../../../shared/errors.ts";
import { Api, eventually } from "../api.ts";
import { makeJob } from "../scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

describe("every response", () => {
  it("has an id, which is the client's own if that is safe", async () => {
    const headers = { "x-request-id": "mine-1" };
    expect((await api.call("GET", "/cargos", { headers })).headers.get("x-request-id")).toBe("mine-1");
    const strange = { "x-request-id": "a b{}" };
    expect((await api.call("GET", "/cargos", { headers: strange })).headers.get("x-request-id")).toMatch(
      /^[0-9a-f-]{36}$/,
    );
  });

  it.each(["/cargos", "/none", "/jobs", "/jobs/job_x", "/../models/none.gguf"])(
    "can be read by a page of any origin, and is not sniffed: %s",
    async (path) => {
      const { headers } = await api.call("GET", path, { headers: { origin: "https://page.example" } });
      expect([headers.get("access-control-allow-origin"), headers.get("x-content-type-options")]).toEqual([
        "*",
        "nosniff",
      ]);
    },
  );

  it("allows a page to send a key and JSON", async () => {
    const { status, headers } = await api.call("OPTIONS", "/jobs", {
      key: null,
      headers: { origin: "https://page.example", "access-control-request-method": "POST" },
    });
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-methods")).toContain("DELETE");
    expect(headers.get("access-control-allow-headers")).toContain("Authorization");
    expect(headers.get("access-control-allow-headers")).toContain("Idempotency-Key");
  });

  it("is logged in one line without query, body or credential", async () => {
    await api.call("POST", "/jobs?note=private", {
      body: { workload: "tiny", input: { prompt: "very secret" } },
      headers: { "x-request-id": "mine-1" },
    });
    await eventually(() => api.logLines.length > 0);
    expect(api.logLines).toHaveLength(1);
    expect(api.logLines[0]).toMatchObject({ request_id: "mine-1", method: "POST", path: "/api/v1/jobs", status: 201 });
    const text = JSON.stringify(api.logLines);
    for (const secret of ["private", "very secret", api.key]) expect(text).not.toContain(secret);
  });
});

describe("errors", () => {
  it("reveal nothing about an internal error, which is logged once with the request's id", async () => {
    api.jobs.failure = new Error("SELECT secret FROM inside");
    const { status, body, headers } = await api.call("GET", "/jobs");
    const id = headers.get("x-request-id");
    expect([status, body]).toEqual([
      500,
      {
        error: {
          message: "Internal error. If it happens again, give the operator this request_id",
          code: "internal",
          request_id: id,
        },
      },
    ]);
    const faults = api.logLines.filter(({ level }) => level === 50);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatchObject({ request_id: id, err: { message: "SELECT secret FROM inside" } });
  });

  it("are safe when a value that is not an Error is thrown", async () => {
    api.jobs.failure = "a string";
    const { status, body } = await api.call("GET", "/jobs");
    expect([status, body.error.code]).toEqual([500, "internal"]);
  });

  it("say when a retry is useful", async () => {
    api.jobs.failure = new RateLimitedError("concurrent_jobs", 7);
    const { status, body, headers } = await api.call("POST", "/jobs", {
      body: { workload: "tiny", input: { prompt: "x" } },
    });
    expect([status, headers.get("retry-after"), body]).toEqual([
      429,
      "7",
      {
        error: {
          message: "Rate limit exceeded (concurrent_jobs); retry in 7 s",
          code: "rate_limited",
          retry_after: 7,
          limit: "concurrent_jobs",
        },
      },
    ]);
  });

  it.each(["/none", "/jobs/a/b/c", "/", "", "/island/session"])("return 404 at the unknown path %j", async (path) => {
    const { status, body } = await api.call("GET", path);
    expect([status, body]).toEqual([
      404,
      {
        error: {
          message:
            "Nothing is served at this path; the API is at /api/v1 (also /v1), its documentation at /docs, the console at /, metrics at /api/v1/metrics",
          code: "not_found",
        },
      },
    ]);
  });

  it.each([
    ["PUT", "/jobs", "POST, GET, HEAD"],
    ["POST", "/jobs/job_1", "GET, HEAD, DELETE"],
    ["DELETE", "/cargos", "GET, HEAD, POST"],
    ["GET", "/chat/completions", "POST"],
  ])("return 405 for %s %s, with the allowed methods", async (method, path, allowed) => {
    api.jobs.add(makeJob({ accountId: api.accountId }));
    const { status, body, headers } = await api.call(method, path);
    expect([status, body.error.code]).toEqual([405, "not_found"]);
    expect(new Set(headers.get("allow")?.split(", "))).toEqual(new Set(allowed.split(", ")));
  });

  it("keep their status at a path that exists", async () => {
    const { status, body } = await api.call("GET", "/jobs/job_none");
    expect([status, body.error.message]).toEqual([404, 'There is no job "job_none"']);
  });
});
