import Anthropic from "@anthropic-ai/sdk";
import { OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ERROR_STATUS, ServiceError, type ErrorCode } from "../../../shared/errors.ts";
import { errorResponse } from "../../../coordinator/http/error-responses.ts";
import { refusal } from "../../../coordinator/http/server/protocol-refusals.ts";
import { Api } from "./api.ts";
import { failWith } from "./scripted-chats.ts";

const ASKED = { model: "tiny", messages: [{ role: "user" as const, content: "Hi" }] };
const WRONG = { ...ASKED, temperature: 9 };

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const post = (base: string, path: string, body: unknown, key = api.key) =>
  api.call("POST", path, { base, body, key, headers: { "x-api-key": key } });

describe("an invalid request", () => {
  it.each(["/chat/completions", "/messages", "/jobs"])(
    "returns 400 on /v1%s, with the body of /api/v1",
    async (path) => {
      const headers = { "x-request-id": "one" };
      const call = (base: string) => api.call("POST", path, { base, body: { ...WRONG, max_tokens: 1 }, headers });
      const [vendor, spec] = [await call("/v1"), await call("/api/v1")];
      expect([vendor.status, spec.status]).toEqual([400, 422]);
      expect(vendor.body).toEqual(spec.body);
    },
  );
});

describe("errorResponse()", () => {
  it.each(Object.entries(ERROR_STATUS))(
    "uses 400 instead of 422 only for vendors' clients: %s (%i)",
    (code, status) => {
      const responseAt = (isVendorBase: boolean) =>
        errorResponse(new ServiceError(code as ErrorCode, "because"), {
          requestId: "r",
          style: "openai",
          isVendorBase,
        });
      const [spec, vendor] = [responseAt(false), responseAt(true)];
      expect([spec.status, vendor.status]).toEqual([status, status === 422 ? 400 : status]);
      expect(vendor.body).toEqual(spec.body);
      const isFinal = status < 500 && status !== 429 ? "false" : undefined;
      for (const { headers } of [spec, vendor]) expect(headers["X-Should-Retry"]).toBe(isFinal);
    },
  );
});

describe("X-Should-Retry", () => {
  it.each(["/api/v1", "/v1"])("stops a client of %s whose key is wrong", async (base) => {
    const response = await post(base, "/messages", { ...ASKED, max_tokens: 1 }, `ak_${"0".repeat(40)}`);
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([401, "false"]);
    expect(response.headers.get("www-authenticate")).toContain("Bearer");
  });

  it.each([
    ["GET", "/nothing", 404],
    ["DELETE", "/cargos", 405],
  ])("is sent with %s %s (%i)", async (method, path, status) => {
    const response = await api.call(method, path);
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([status, "false"]);
  });
});

describe("refusal()", () => {
  it.each([
    [400, "false"],
    [408, undefined],
    [417, "false"],
    [431, "false"],
  ])("sets X-Should-Retry for a request that is not valid HTTP with %i: %s", (status, value) => {
    expect(refusal(status, "because").headers["X-Should-Retry"]).toBe(value);
  });
});

describe("a prompt that exceeds the context", () => {
  it("returns an error at which Anthropic's clients compact", async () => {
    failWith(api, "context_length_exceeded");
    const client = new Anthropic({ apiKey: api.key, baseURL: api.url });
    const asked = client.messages.create({ ...ASKED, max_tokens: 1 });
    await expect(asked).rejects.toMatchObject({
      status: 400,
      error: { error: { type: "invalid_request_error", message: "because" } },
    });
    expect(api.jobs.submitted).toHaveLength(1);
  });

  it("returns an error at which OpenAI's clients compact", async () => {
    failWith(api, "context_length_exceeded");
    const client = new OpenAI({ apiKey: api.key, baseURL: `${api.url}/v1` });
    const asked = client.chat.completions.create(ASKED);
    await expect(asked).rejects.toMatchObject({ status: 400, code: "context_length_exceeded" });
  });
});

describe("OpenAI's conversations", () => {
  it.each([
    ["POST", "/conversations"],
    ["GET", "/conversations/conv_1"],
    ["POST", "/conversations/conv_1/items"],
  ])("are not supported, so that %s /v1%s returns 404 with a hint", async (method, path) => {
    const { status, body } = await api.call(method, path, { base: "/v1", ...(method === "GET" ? {} : { body: {} }) });
    expect([status, body.error.code, body.error.type]).toEqual([404, "not_found", "invalid_request_error"]);
    expect(body.error.message).toMatch(/previous_response_id .* \/api\/v1\/conversations/);
  });

  it("do not affect Atoll's own", async () => {
    expect((await api.call("POST", "/conversations", { body: {} })).status).toBe(201);
  });
});
