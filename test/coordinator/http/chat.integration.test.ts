import { once } from "node:events";
import { connect } from "node:net";
import { AuthenticationError, NotFoundError, OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_INPUT_BYTES } from "../../../shared/chat-input.ts";
import type { JobErrorCode } from "../../../shared/errors.ts";
import type { FeedItem } from "../../../coordinator/store/job-store.ts";
import { Api, BodyReader, eventually } from "./api.ts";
import { DONE, makeJob, T0 } from "./scripted-jobs.ts";

const token = (content: string): FeedItem => ({ type: "token", content, count: 1 });
const MESSAGES = [{ role: "user", content: "Hi" }];
const CREATED = T0 / 1_000;

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const chat = (body: Record<string, unknown> = {}, key = api.key) =>
  api.call("POST", "/chat/completions", { key, body: { messages: MESSAGES, ...body } });

/** Answers the next chats with these tokens. */
function answerWith(...tokens: string[]): void {
  api.jobs.onSubmit = (feed) => {
    feed.push([{ type: "status", state: "pending" }]);
    if (tokens.length > 0) feed.push(tokens.map(token));
    feed.end(DONE);
  };
}

function failWith(code: JobErrorCode | "cancelled", ...tokens: string[]): void {
  api.jobs.onSubmit = (feed) => {
    feed.push([{ type: "status", state: "pending" }, ...tokens.map(token)]);
    feed.end({ type: "error", code, message: "because", retryable: true });
  };
}

describe("POST /chat/completions", () => {
  it("answers with the whole completion", async () => {
    answerWith("Hel", "lo");
    const answer = await chat();
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: "job_new1",
      object: "chat.completion",
      created: CREATED,
      model: "tiny",
      choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
    expect(api.clock.pendingTimers).toBe(0);
  });

  it("submits a job with what was given and nothing else", async () => {
    answerWith("x");
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
      },
    ]);
  });

  it("joins content that is sent in text parts", async () => {
    answerWith("x");
    const content = [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ];
    await chat({ messages: [{ role: "user", content }] });
    expect(api.jobs.submitted[0]?.input).toEqual({ messages: [{ role: "user", content: "ab" }] });
  });

  it.each([null, undefined])(
    "takes content %j of an assistant that called tools, as official clients send it",
    async (content) => {
      answerWith("x");
      const calls = [{ id: "call_1", type: "function", function: { name: "sum", arguments: "{}" } }];
      const { status } = await chat({
        messages: [
          { role: "user", content: "What is 7 plus 8?" },
          { role: "assistant", content, tool_calls: calls },
          { role: "tool", content: "15", tool_call_id: "call_1" },
        ],
      });
      expect(status).toBe(200);
      expect(api.jobs.submitted[0]?.input["messages"]).toEqual([
        { role: "user", content: "What is 7 plus 8?" },
        { role: "assistant", content: "" },
        { role: "tool", content: "15" },
      ]);
    },
  );

  it.each([
    [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }, '"image_url" is not supported'],
    [{ role: "user", content: 4 }, 'must be a text, or a list of parts {"type": "text", "text": "…"}'],
    [
      { role: "user", content: Array.from({ length: 257 }, () => ({ type: "text", text: "a" })) },
      "257 parts; at most 256",
    ],
    [{ role: "user", content: null }, "only an assistant message with tool_calls"],
    [{ role: "assistant", content: null, tool_calls: [] }, "only an assistant message with tool_calls"],
    [{ role: "assistant" }, "only an assistant message with tool_calls"],
  ])("says what content is taken instead of %j", async (message, words) => {
    const { status, body } = await chat({ messages: [message] });
    expect([status, body.error.param, body.error.details.length]).toEqual([422, "messages.0.content", 1]);
    expect(body.error.message).toContain(words);
  });

  it.each([
    [{ messages: undefined }, "messages"],
    [{ messages: [] }, "messages"],
    [{ messages: Array.from({ length: 129 }, () => MESSAGES[0]) }, "messages"],
    [{ messages: [{ role: "robot", content: "x" }] }, "messages.0.role"],
    [{ messages: [{ role: "user", content: 4 }] }, "messages.0.content"],
    [{ messages: [{ role: "user", content: "x".repeat(MAX_INPUT_BYTES) }] }, "messages"],
    [{ model: 5 }, "model"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ max_tokens: 4_097 }, "max_tokens"],
    [{ max_tokens: 1.5 }, "max_tokens"],
    [{ max_completion_tokens: 0 }, "max_completion_tokens"],
    [{ temperature: 2.1 }, "temperature"],
    [{ temperature: "hot" }, "temperature"],
    [{ top_p: 0 }, "top_p"],
    [{ seed: -1 }, "seed"],
    [{ frequency_penalty: 3 }, "frequency_penalty"],
    [{ presence_penalty: -3 }, "presence_penalty"],
    [{ n: 2 }, "n"],
    [{ stream: "yes" }, "stream"],
    [{ stream_options: { include_usage: 1 } }, "stream_options.include_usage"],
    [{ response_format: { type: "xml" } }, "response_format.type"],
  ])("refuses %j as validation_failed", async (body, path) => {
    const answer = await chat(body);
    expect([answer.status, answer.body.error.code, answer.body.error.details[0].path]).toEqual([
      422,
      "validation_failed",
      path,
    ]);
    expect(answer.body.error).toMatchObject({ type: "invalid_request_error", param: path });
    expect(api.jobs.submitted).toEqual([]);
  });

  it.each(["nothing", "words", ""])("knows no chat Cargo %j", async (model) => {
    const { status, body } = await chat({ model });
    expect([status, body]).toEqual([
      404,
      {
        error: {
          message: `There is no chat Cargo "${model}"`,
          type: "invalid_request_error",
          param: null,
          code: "cargo_not_found",
        },
      },
    ]);
  });

  it("needs the write scope", async () => {
    const answer = await chat({}, api.readKey);
    expect([answer.status, answer.body.error.code, answer.body.error.type]).toEqual([
      403,
      "insufficient_scope",
      "permission_error",
    ]);
  });

  describe.each([false, true])("stream %j", (stream) => {
    it("answers 503 with the reason when no Island takes it in time", async () => {
      const pending = chat({ stream });
      await eventually(() => api.clock.pendingTimers === 1);
      const job = makeJob({ id: "job_new1", accountId: api.accountId });
      api.jobs.jobs.set("job_new1", {
        ...job,
        waiting: { reason: "all_busy", position: 1, message: "2 Islands fit, all busy" },
      });
      api.clock.advance(59_999);
      await new Promise((resolve) => setImmediate(resolve));
      api.jobs.feeds.get("job_new1")?.end({ type: "error", code: "wait_timeout", message: "late", retryable: true });
      const answer = await pending;
      expect([answer.status, answer.headers.get("retry-after"), answer.body]).toEqual([
        503,
        "5",
        {
          error: {
            message: "No Island was available in time: 2 Islands fit, all busy",
            type: "server_error",
            param: null,
            code: "no_island_available",
            retry_after: 5,
          },
        },
      ]);
    });

    it("answers 422 to a prompt that does not fit the context", async () => {
      failWith("context_length_exceeded");
      const { status, body } = await chat({ stream });
      expect([status, body.error.code, body.error.message]).toEqual([422, "context_length_exceeded", "because"]);
    });

    it("answers 422 to an input that the Island's runtime refuses: no client should try it again", async () => {
      failWith("invalid_input");
      const { status, body } = await chat({ stream });
      expect([status, body.error.code, body.error.message]).toEqual([422, "validation_failed", "because"]);
    });

    it.each(["out_of_memory", "run_timeout", "cancelled", "island_lost"] as const)(
      "answers 500 job_failed to a job that ended by %s before output",
      async (code) => {
        failWith(code);
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

    it("cancels the job when the client leaves before any output", async () => {
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

  it("fails as a whole when a job that is not streamed fails in mid-text", async () => {
    failWith("runtime_crashed", "half");
    expect((await chat()).body.error).toMatchObject({ code: "job_failed", job_error: "runtime_crashed" });
  });

  it("streams role, tokens, finish reason and [DONE]", async () => {
    answerWith("Hel", "lo");
    const { status, headers, text } = await chat({ stream: true });
    const head = `data: {"id":"job_new1","object":"chat.completion.chunk","created":${CREATED},"model":"tiny","choices":[{"index":0,"delta":`;
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect(text).toBe(
      [
        `${head}{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}\n\n`,
        `${head}{"content":"Hel"},"logprobs":null,"finish_reason":null}]}\n\n`,
        `${head}{"content":"lo"},"logprobs":null,"finish_reason":null}]}\n\n`,
        `${head}{},"logprobs":null,"finish_reason":"stop"}]}\n\n`,
        "data: [DONE]\n\n",
      ].join(""),
    );
  });

  it("streams the usage when it is asked for", async () => {
    answerWith("x");
    const { text } = await chat({ stream: true, stream_options: { include_usage: true } });
    expect(text.split("\n\n").at(-3)).toBe(
      `data: {"id":"job_new1","object":"chat.completion.chunk","created":${CREATED},"model":"tiny","choices":[],` +
        '"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}',
    );
    expect(text.endsWith("\n\ndata: [DONE]\n\n")).toBe(true);
  });

  it("streams an answer without any text", async () => {
    answerWith();
    const { text } = await chat({ stream: true });
    expect(text.match(/^data: /gm)).toHaveLength(3);
  });

  it("ends in one error line and no [DONE] when the job fails in mid-stream", async () => {
    failWith("runtime_crashed", "half");
    const { status, text } = await chat({ stream: true });
    const lines = text.split("\n\n");
    expect([status, lines.length]).toEqual([200, 4]);
    expect(lines[2]).toBe(
      'data: {"error":{"message":"because","type":"server_error","param":null,"code":"runtime_crashed","retryable":true}}',
    );
    expect(text).not.toContain("[DONE]");
  });

  it("sends no header before there is output", async () => {
    const request = api.fetch("POST", "/chat/completions", { body: { messages: MESSAGES, stream: true } });
    let hasAnswered = false;
    void request.then(() => {
      hasAnswered = true;
    });
    await eventually(() => api.jobs.feeds.get("job_new1")?.listeners === 1);
    const feed = api.jobs.feeds.get("job_new1");
    feed?.push([{ type: "status", state: "running" }]);
    // An answer that came behind the first would show that the first had time to come.
    await api.call("GET", "/account");
    expect(hasAnswered).toBe(false);
    feed?.push([token("now")]);
    const reader = new BodyReader(await request);
    await reader.until('"content":"now"},"logprobs":null,"finish_reason":null}]}\n\n');
    feed?.end(DONE);
    expect(await reader.toEnd()).toContain("[DONE]");
  });

  it("cancels the job when the client leaves in mid-stream", async () => {
    api.jobs.onSubmit = (feed) => feed.push([token("a")]);
    const reader = new BodyReader(
      await api.fetch("POST", "/chat/completions", { body: { messages: MESSAGES, stream: true } }),
    );
    await reader.until("null}]}\n\n");
    await reader.cancel();
    await eventually(() => api.jobs.cancelled.length === 1);
    expect([api.jobs.feeds.get("job_new1")?.listeners, api.clock.pendingTimers]).toEqual([0, 0]);
  });

  it("takes a client that ends its side of the connection for gone", async () => {
    api.jobs.onSubmit = (feed) => feed.push([token("a")]);
    const body = JSON.stringify({ messages: MESSAGES, stream: true });
    const client = connect({ port: api.port, host: "127.0.0.1", allowHalfOpen: true });
    const ended = once(client, "end");
    client.resume();
    client.end(
      `POST /api/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually(() => api.jobs.cancelled.length === 1);
    await ended;
  });

  it.each(["submitGate", "feedGate"] as const)("cancels the job when the client leaves at the %s", async (name) => {
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
  });

  it("does not cancel a job whose answer was read", async () => {
    answerWith("x");
    await chat();
    await chat({ stream: true });
    await api[Symbol.asyncDispose]();
    expect(api.jobs.cancelled).toEqual([]);
    api = await Api.open();
  });
});

describe("the official OpenAI client", () => {
  const client = () => new OpenAI({ apiKey: api.key, baseURL: `${api.url}/api/v1`, maxRetries: 0 });

  it("completes and streams", async () => {
    answerWith("Hel", "lo");
    const messages = [{ role: "user" as const, content: "Hi" }];
    const whole = await client().chat.completions.create({ model: "tiny", messages });
    expect(whole.choices[0]?.message.content).toBe("Hello");
    const stream = await client().chat.completions.create({
      model: "tiny",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let total: number | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      total = chunk.usage?.total_tokens ?? total;
    }
    expect([text, total]).toEqual(["Hello", 5]);
  });

  it("throws at an error in mid-stream", async () => {
    failWith("runtime_crashed", "half");
    const stream = await client().chat.completions.create({
      model: "tiny",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
    });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.object).toBe("chat.completion.chunk");
    };
    await expect(read()).rejects.toThrow("because");
  });

  it("lists models, and knows the errors by their classes", async () => {
    const slugs = [];
    for await (const model of client().models.list()) slugs.push(model.id);
    expect(slugs).toEqual(["second", "tiny"]);
    await expect(client().models.retrieve("words")).rejects.toBeInstanceOf(NotFoundError);
    const stranger = new OpenAI({ apiKey: "ak_wrong", baseURL: `${api.url}/api/v1`, maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toBeInstanceOf(AuthenticationError);
  });
});
