import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../api.ts";
import { DONE, makeJob } from "../scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const CHAT = { messages: [{ role: "user", content: "Hi" }] };
const READ_ROUTES: [string, string][] = [
  ["GET", "/jobs"],
  ["GET", "/jobs/job_1"],
  ["GET", "/jobs/job_1/stream"],
  ["GET", "/models"],
  ["GET", "/models/tiny"],
  ["GET", "/account"],
  ["GET", "/api-keys"],
];
const WRITE_ROUTES: [string, string, unknown?][] = [
  ["POST", "/jobs", { workload: "tiny", input: { prompt: "x" } }],
  ["DELETE", "/jobs/job_1"],
  ["DELETE", "/jobs/job_1/content"],
  ["POST", "/chat/completions", CHAT],
  ["POST", "/api-keys", {}],
  ["DELETE", "/api-keys/key_none"],
];

describe.each([...READ_ROUTES, ...WRITE_ROUTES])("%s %s", (method, path, body) => {
  const call = (authorization: string | null) =>
    api.call(method, path, { key: null, body, headers: authorization === null ? {} : { authorization } });

  it("returns 401 without a valid credential", async () => {
    const secret = api.key;
    const credentials = [null, "", "Bearer", "Bearer ", secret, `Basic ${secret}`, `Bearer ${secret}x`];
    const others = [
      `Bearer ak_${"A".repeat(40)}`,
      `Bearer st_${"A".repeat(40)}`,
      `Bearer it_${"A".repeat(40)}`,
      "Bearer a b",
    ];
    for (const authorization of [...credentials, ...others]) {
      const response = await call(authorization);
      expect([authorization, response.status, response.body.error.code]).toEqual([
        authorization,
        401,
        "unauthenticated",
      ]);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="atoll"');
    }
    expect([api.jobs.submitted, api.jobs.cancelled]).toEqual([[], []]);
  });

  it("accepts the scheme in any case", async () => {
    api.jobs.add(makeJob({ accountId: api.accountId })).end(DONE);
    api.jobs.onSubmit = (feed) => feed.end(DONE);
    expect((await call(`bearer ${api.key}`)).status).not.toBe(401);
  });
});

describe("scopes", () => {
  it.each(READ_ROUTES)("%s %s needs read", async (method, path) => {
    api.jobs.add(makeJob({ accountId: api.accountId })).end(DONE);
    const response = await api.call(method, path, { key: api.writeKey });
    expect([response.status, response.body.error.code]).toEqual([403, "insufficient_scope"]);
    expect((await api.call(method, path, { key: api.readKey })).status).toBe(200);
  });

  it.each(WRITE_ROUTES)("%s %s needs write", async (method, path, body) => {
    api.jobs.add(makeJob({ accountId: api.accountId }));
    api.jobs.onSubmit = (feed) => feed.end(DONE);
    const response = await api.call(method, path, { key: api.readKey, body });
    expect([response.status, response.body.error.code]).toEqual([403, "insufficient_scope"]);
    expect([api.jobs.submitted, api.jobs.cancelled]).toEqual([[], []]);
    expect((await api.call(method, path, { key: api.writeKey, body })).status).not.toBe(401);
  });
});

describe("public routes", () => {
  it.each(["/health", "/cargos", "/cargos/tiny", "/openapi.json"])(
    "%s needs no credential and ignores an invalid one",
    async (path) => {
      expect((await api.call("GET", path, { key: null })).status).toBe(200);
      expect((await api.call("GET", path, { key: "ak_bad" })).status).toBe(200);
    },
  );
});
