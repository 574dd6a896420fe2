import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../../../coordinator/quotas/account-limits.ts";
import { Api, eventually } from "../api.ts";
import { MESSAGES, completeWith, failWith } from "../scripted-chats.ts";
import { T0 } from "../scripted-jobs.ts";

const CREATED = T0 / 1_000;

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const chat = (body: Record<string, unknown> = {}, key = api.key) =>
  api.call("POST", "/chat/completions", { key, body: { messages: MESSAGES, ...body } });

describe("POST /chat/completions", () => {
  it("returns the whole completion", async () => {
    completeWith(api, "Hel", "lo");
    const response = await chat();
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      id: "job_new1",
      object: "chat.completion",
      created: CREATED,
      model: "tiny",
      choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cost: 1.5 },
    });
    expect(api.clock.pendingTimers).toBe(0);
  });

  it("submits a job with exactly the given parameters", async () => {
    completeWith(api, "x");
    await chat({
      model: "second",
      max_tokens: 5,
      max_completion_tokens: 7,
      temperature: 0,
      top_p: null,
      stop: ["a"],
      seed: 1,
      n: 1,
      user: "someone",
      tools: [],
      response_format: { type: "json_object" },
    });
    expect(api.jobs.submitted).toEqual([
      {
        accountId: api.accountId,
        limits: DEFAULT_LIMITS,
        apiKey: { number: expect.any(Number), cargos: null, monthlyMicro: null, trust: null },
        ignoredParameters: ["user"],
        slug: "second",
        input: {
          messages: MESSAGES,
          max_tokens: 7,
          temperature: 0,
          stop: ["a"],
          seed: 1,
          response_format: { type: "json_object" },
        },
        priority: 0,
        idempotency: null,
        waitLimitMs: 60_000,
        isClientBound: true,
      },
    ]);
  });

  it("joins content of several text parts", async () => {
    completeWith(api, "x");
    const content = [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ];
    await chat({ messages: [{ role: "user", content }] });
    expect(api.jobs.submitted[0]?.input).toEqual({ messages: [{ role: "user", content: "ab" }] });
  });

  it.each([
    [{ role: "user", content: 4 }, 'must be a string, or a list of parts {"type": "text", "text": "…"}'],
    [
      { role: "user", content: Array.from({ length: 257 }, () => ({ type: "text", text: "a" })) },
      "257 parts; at most 256",
    ],
    [{ role: "user", content: null }, "only an assistant message with tool_calls"],
    [{ role: "assistant", content: null, tool_calls: [] }, "only an assistant message with tool_calls"],
    [{ role: "assistant" }, "only an assistant message with tool_calls"],
  ])("describes the accepted content instead of %j", async (message, words) => {
    const { status, body } = await chat({ messages: [message] });
    expect([status, body.error.param, body.error.details.length]).toEqual([422, "messages.0.content", 1]);
    expect(body.error.message).toContain(words);
  });

  it.each([
    [{ type: "input_audio", input_audio: {} }, "type", '"input_audio" is not supported; only text and images are'],
    [{ type: "image_url", image_url: { url: "x" } }, "image_url.url", "must be a data URL"],
    [{ text: "a" }, "type", "is missing"],
    [{ type: "text", text: 4 }, "text", "expected string"],
  ])("names the refused part %j by its path", async (part, member, words) => {
    const content = [{ type: "text", text: "a" }, part];
    const { status, body } = await chat({ messages: [{ role: "user", content }] });
    const { param, details, message } = body.error;
    expect([status, param, details.length]).toEqual([422, `messages.0.content.1.${member}`, 1]);
    expect(message).toContain(words);
  });

  it.each([
    [{ messages: undefined }, "messages"],
    [{ messages: [] }, "messages"],
    [{ messages: [{ role: "robot", content: "x" }] }, "messages.0.role"],
    [{ messages: [{ role: "user", content: 4 }] }, "messages.0.content"],
    [{ model: 5 }, "model"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ max_tokens: 2 ** 31 }, "max_tokens"],
    [{ max_tokens: 1.5 }, "max_tokens"],
    [{ max_completion_tokens: 0 }, "max_completion_tokens"],
    [{ temperature: 2.1 }, "temperature"],
    [{ temperature: "hot" }, "temperature"],
    [{ top_p: 0 }, "top_p"],
    [{ seed: -1 }, "seed"],
    [{ frequency_penalty: 3 }, "frequency_penalty"],
    [{ presence_penalty: -3 }, "presence_penalty"],
    [{ n: 9 }, "n"],
    [{ n: 9, stream: true }, "n"],
    [{ stream: "yes" }, "stream"],
    [{ stream_options: { include_usage: 1 } }, "stream_options.include_usage"],
    [{ response_format: { type: "xml" } }, "response_format.type"],
  ])("refuses %j as validation_failed", async (body, path) => {
    const response = await chat(body);
    expect([response.status, response.body.error.code, response.body.error.details[0].path]).toEqual([
      422,
      "validation_failed",
      path,
    ]);
    expect(response.body.error).toMatchObject({ type: "invalid_request_error", param: path });
    expect(api.jobs.submitted).toEqual([]);
  });

  it.each([
    ["nothing", 'There is no model "nothing"; GET /models lists those that you may use'],
    ["words", 'The model "words" does not chat; it is for /moderations'],
    ["", 'There is no model ""; GET /models lists those that you may use'],
  ])("returns 404 for the chat model %j", async (model, message) => {
    const { status, body } = await chat({ model });
    expect([status, body]).toEqual([
      404,
      {
        error: {
          message,
          type: "invalid_request_error",
          param: null,
          code: "model_not_found",
        },
      },
    ]);
  });

  it("needs the write scope", async () => {
    const response = await chat({}, api.readKey);
    expect([response.status, response.body.error.code, response.body.error.type]).toEqual([
      403,
      "insufficient_scope",
      "permission_error",
    ]);
  });

  describe.each([false, true])("stream %j", (stream) => {
    it("returns 503 with the reason when no Island starts it in time", async () => {
      const pending = chat({ stream });
      await eventually(() => api.jobs.feeds.get("job_new1")?.listeners === 1);
      const message = "No Island began the job within its wait limit: 2 Islands fit, but all are busy";
      api.jobs.feeds.get("job_new1")?.end({ type: "error", code: "wait_timeout", message, retryable: true });
      const response = await pending;
      expect([response.status, response.headers.get("retry-after"), response.body]).toEqual([
        503,
        "5",
        {
          error: {
            message,
            type: "server_error",
            param: null,
            code: "no_island_available",
            retry_after: 5,
          },
        },
      ]);
    });

    it("returns 422 for a prompt that does not fit the context", async () => {
      failWith(api, "context_length_exceeded");
      const { status, body } = await chat({ stream });
      expect([status, body.error.code, body.error.message]).toEqual([422, "context_length_exceeded", "because"]);
    });

    it("returns 422 for an input that the Island's runtime refuses, so that clients do not retry", async () => {
      failWith(api, "invalid_input");
      const { status, body } = await chat({ stream });
      expect([status, body.error.code, body.error.message]).toEqual([422, "validation_failed", "because"]);
    });

    it.each(["out_of_memory", "run_timeout", "island_lost"] as const)(
      "returns 500 job_failed for a job that ended with %s before output",
      async (code) => {
        failWith(api, code);
        const { status, body } = await chat({ stream });
        expect([status, body]).toEqual([
          500,
          {
            error: {
              message: `The job failed (${code}): because`,
              type: "server_error",
              param: null,
              code: "job_failed",
              job_error: code,
              retryable: true,
            },
          },
        ]);
      },
    );

    it.each(["model_unavailable", "model_hash_mismatch"] as const)(
      "returns 503 job_failed for a job that ended with %s",
      async (code) => {
        failWith(api, code);
        const { status, headers, body } = await chat({ stream });
        const error = { code: "job_failed", job_error: code, retryable: true, retry_after: 5, type: "server_error" };
        expect([status, headers.get("retry-after"), body]).toEqual([
          503,
          "5",
          { error: expect.objectContaining(error) },
        ]);
      },
    );

    it("cancels the job when the client disconnects before any output", async () => {
      const leave = new AbortController();
      const request = fetch(`${api.url}/api/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${api.key}` },
        body: JSON.stringify({ messages: MESSAGES, stream }),
        signal: leave.signal,
      });
      await eventually(() => api.jobs.feeds.get("job_new1")?.listeners === 1);
      leave.abort();
      await expect(request).rejects.toThrow();
      await eventually(() => api.jobs.cancelled.length === 1);
      expect([api.jobs.cancelled, api.jobs.feeds.get("job_new1")?.listeners]).toEqual([["job_new1"], 0]);
      await eventually(() => api.clock.pendingTimers === 0 && api.logLines.length > 0);
      expect(api.logLines).toEqual([expect.objectContaining({ level: 30, aborted: true })]);
    });
  });

  it("returns only the error when a job that is not streamed fails after some text", async () => {
    failWith(api, "runtime_crashed", "half");
    expect((await chat()).body.error).toMatchObject({ code: "job_failed", job_error: "runtime_crashed" });
  });

  it.each(["submitGate", "feedGate"] as const)(
    "cancels the job when the client disconnects at the %s",
    async (name) => {
      const gate = Promise.withResolvers<void>();
      api.jobs[name] = gate.promise;
      const leave = new AbortController();
      const request = fetch(`${api.url}/api/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${api.key}` },
        body: JSON.stringify({ messages: MESSAGES }),
        signal: leave.signal,
      });
      await eventually(() => api.jobs.submitted.length === 1);
      leave.abort();
      await expect(request).rejects.toThrow();
      await eventually(() => api.logLines.length === 1);
      gate.resolve();
      await eventually(() => api.jobs.cancelled.length === 1);
      await eventually(() => api.jobs.feeds.get("job_new1")?.ending !== null);
      expect([api.jobs.feeds.get("job_new1")?.listeners, api.clock.pendingTimers]).toEqual([0, 0]);
    },
  );

  it("does not cancel a job whose response was read", async () => {
    completeWith(api, "x");
    await chat();
    await chat({ stream: true });
    await api[Symbol.asyncDispose]();
    expect(api.jobs.cancelled).toEqual([]);
    api = await Api.open();
  });
});
