import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, embed, generateText, streamText } from "ai";
import {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  OpenAI,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ERROR_STATUS,
  RateLimitedError,
  ServiceError,
  type ErrorCode,
  type JobErrorCode,
} from "../../../shared/errors.ts";
import type { FeedItem } from "../../../coordinator/store/jobs/job-store.ts";
import { Api } from "./api.ts";

const ASKED = { model: "tiny", messages: [{ role: "user" as const, content: "Hi" }] };
const token: FeedItem = { type: "token", content: "Hel", count: 1 };

/**
 * Error types, and classes of the clients, by status. The types are those of OpenAI's API, which does not define 402,
 * 410, 413 and 507.
 */
const CLASSES: Record<number, { type: string; error: new (...args: never[]) => Error; retried: boolean }> = {
  400: { type: "invalid_request_error", error: BadRequestError, retried: false },
  401: { type: "authentication_error", error: AuthenticationError, retried: false },
  402: { type: "insufficient_quota", error: APIError, retried: false },
  403: { type: "permission_error", error: PermissionDeniedError, retried: false },
  404: { type: "invalid_request_error", error: NotFoundError, retried: false },
  410: { type: "invalid_request_error", error: APIError, retried: false },
  413: { type: "invalid_request_error", error: APIError, retried: false },
  422: { type: "invalid_request_error", error: UnprocessableEntityError, retried: false },
  429: { type: "rate_limit_error", error: RateLimitError, retried: true },
  500: { type: "server_error", error: InternalServerError, retried: true },
  503: { type: "server_error", error: InternalServerError, retried: true },
  507: { type: "server_error", error: InternalServerError, retried: true },
};

let api: Api;
let openai: OpenAI;
let aiSdk: ReturnType<typeof createOpenAICompatible>;
beforeEach(async () => {
  api = await Api.open();
  ({ openai, aiSdk } = clientsOf(api.key));
});
afterEach(() => api[Symbol.asyncDispose]());

function clientsOf(apiKey: string) {
  const baseURL = `${api.url}/api/v1`;
  return {
    openai: new OpenAI({ apiKey, baseURL, maxRetries: 0 }),
    aiSdk: createOpenAICompatible({ name: "atoll", apiKey, baseURL }),
  };
}

/** Returns the error of a call. */
async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.fail("nothing was thrown"),
    (error: unknown) => error,
  );
}

const chatWith = (client: OpenAI) => thrownBy(client.chat.completions.create(ASKED));
const generateWith = (sdk: typeof aiSdk) => thrownBy(generateText({ model: sdk("tiny"), prompt: "Hi", maxRetries: 0 }));

/**
 * Codes without a case here. Two of them have their own tests, and the others belong to streams of jobs and to files.
 */
const OF_JOBS_AND_FILES = ["content_removed", "disk_full"];
const ELSEWHERE = ["rate_limited", "internal", "cargo_not_found", ...OF_JOBS_AND_FILES];
const codes = Object.entries(ERROR_STATUS).filter(([code]) => !ELSEWHERE.includes(code));

describe("an error on a path of OpenAI's clients", () => {
  it("is mapped to a class for every status", () => {
    expect(Object.values(ERROR_STATUS).filter((status) => !(status in CLASSES))).toEqual([]);
  });

  it.each(codes)("%s (%i) is thrown as its class by openai and by ai-sdk", async (code, status) => {
    const expected = CLASSES[status];
    const failure = new ServiceError(code as ErrorCode, "because");
    api.jobs.failure = failure;
    const error = await chatWith(openai);
    expect(error).toBeInstanceOf(expected?.error);
    expect(error).toMatchObject({ status, code, type: expected?.type, param: null });
    expect((error as Error).message).toContain("because");
    api.jobs.failure = failure;
    const other = await generateWith(aiSdk);
    expect(APICallError.isInstance(other)).toBe(true);
    expect(other).toMatchObject({ statusCode: status, message: "because", isRetryable: expected?.retried });
  });

  it("uses the code that OpenAI's clients know for a missing Cargo", async () => {
    api.jobs.failure = new ServiceError("cargo_not_found", "because");
    expect(await chatWith(openai)).toMatchObject({ status: 404, code: "model_not_found" });
  });

  it("includes Retry-After for rate_limited (429)", async () => {
    api.jobs.failure = new RateLimitedError("concurrent_jobs", 7);
    const error = await chatWith(openai);
    expect(error).toBeInstanceOf(RateLimitError);
    expect((error as RateLimitError).headers?.get("retry-after")).toBe("7");
    expect(error).toMatchObject({
      type: "rate_limit_error",
      code: "rate_limited",
      error: { limit: "concurrent_jobs", retry_after: 7 },
    });
    api.jobs.failure = new RateLimitedError("concurrent_jobs", 7);
    expect(await generateWith(aiSdk)).toMatchObject({
      statusCode: 429,
      isRetryable: true,
      responseHeaders: { "retry-after": "7" },
    });
  });

  it.each([
    ["cargo_failed", false, 1],
    ["schema_unmet", true, 1],
    ["island_lost", true, 2],
  ])(
    "makes clients send a request again for job_failed (500) of %s, retryable %j: %i times",
    async (code, retryable, tries) => {
      let sent = 0;
      api.jobs.onSubmit = (feed) => {
        sent += 1;
        feed.end({ type: "error", code: code as JobErrorCode, message: "because", retryable });
      };
      const error = await thrownBy(openai.chat.completions.create(ASKED, { maxRetries: 1 }));
      expect(error).toMatchObject({ status: 500, code: "job_failed", error: { job_error: code, retryable } });
      expect(sent).toBe(tries);
    },
  );

  it("reveals nothing for internal (500)", async () => {
    api.jobs.failure = new Error("the disk's secret");
    const error = await chatWith(openai);
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ type: "server_error", code: "internal", param: null });
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it("is the same when a real check finds a wrong key, a missing scope or an invalid field", async () => {
    const wrong = clientsOf(`ak_${"0".repeat(40)}`);
    expect(await chatWith(wrong.openai)).toBeInstanceOf(AuthenticationError);
    expect(await generateWith(wrong.aiSdk)).toMatchObject({ statusCode: 401, isRetryable: false });
    expect(await chatWith(clientsOf(api.readKey).openai)).toBeInstanceOf(PermissionDeniedError);
    const field = await thrownBy(openai.chat.completions.create({ ...ASKED, temperature: 9 }));
    expect(field).toBeInstanceOf(UnprocessableEntityError);
    expect(field).toMatchObject({ param: "temperature", code: "validation_failed" });
    const large = "x".repeat(6_400_000);
    const body = await thrownBy(openai.chat.completions.create({ ...ASKED, user: large }));
    expect(body).toMatchObject({ status: 413, code: "payload_too_large", type: "invalid_request_error" });
  });

  it.each(["/models", "/models/none", "/embeddings", "/chat/completions", "/chat/none", "/embeddings/none"])(
    "includes type and param at %s, whichever check refuses the request",
    async (path) => {
      const { status, body } = await api.call("GET", path, { key: null });
      expect([401, 404, 405]).toContain(status);
      expect(Object.keys(body.error).sort()).toEqual(expect.arrayContaining(["code", "message", "param", "type"]));
    },
  );

  it("is thrown as its class for models and embeddings", async () => {
    expect(await thrownBy(openai.models.retrieve("none"))).toBeInstanceOf(NotFoundError);
    expect(await thrownBy(openai.embeddings.create({ model: "tiny", input: "a" }))).toBeInstanceOf(NotFoundError);
    const asked = embed({ model: aiSdk.embeddingModel("tiny"), value: "a", maxRetries: 0 });
    expect(await thrownBy(asked)).toMatchObject({ statusCode: 404, message: expect.stringContaining("tiny") });
  });

  it("keeps the plain format on other paths", async () => {
    const { body } = await api.call("GET", "/jobs/none");
    expect(Object.keys(body.error)).toEqual(["message", "code"]);
  });
});

describe("a mid-stream error", () => {
  beforeEach(() => {
    api.jobs.onSubmit = (feed) => {
      feed.push([token]);
      feed.end({ type: "error", code: "island_lost", message: "gone", retryable: true });
    };
  });

  it("is thrown by openai after the text", async () => {
    const stream = await openai.chat.completions.create({ ...ASKED, stream: true });
    let text = "";
    const read = async (): Promise<void> => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    };
    const error = await thrownBy(read());
    expect(text).toBe("Hel");
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: "island_lost", type: "server_error", param: null, error: { message: "gone" } });
  });

  it("is an error part of ai-sdk after the text", async () => {
    const result = streamText({ model: aiSdk("tiny"), prompt: "Hi", maxRetries: 0, onError: () => undefined });
    let text = "";
    const errors: unknown[] = [];
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") text += part.text;
      if (part.type === "error") errors.push(part.error);
    }
    expect(text).toBe("Hel");
    expect(JSON.stringify(errors)).toContain("gone");
  });
});
