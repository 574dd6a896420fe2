import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OverloadedError } from "../../../../shared/errors.ts";
import { Api, BodyReader, eventually } from "../api.ts";
import { MESSAGES, completeWith, failWith, token } from "../scripted-chats.ts";
import { DONE, T0 } from "../scripted-jobs.ts";

const CREATED = T0 / 1_000;

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const chat = (body: Record<string, unknown>) =>
  api.call("POST", "/chat/completions", { body: { messages: MESSAGES, ...body } });

describe("POST /chat/completions with stream", () => {
  it("streams role, tokens, finish reason and [DONE]", async () => {
    completeWith(api, "Hel", "lo");
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

  it("streams the usage if requested", async () => {
    completeWith(api, "x");
    const { text } = await chat({ stream: true, stream_options: { include_usage: true } });
    expect(text.split("\n\n").at(-3)).toBe(
      `data: {"id":"job_new1","object":"chat.completion.chunk","created":${CREATED},"model":"tiny","choices":[],` +
        '"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"cost":1.5}}',
    );
    expect(text.endsWith("\n\ndata: [DONE]\n\n")).toBe(true);
  });

  it("streams a completion without any text", async () => {
    completeWith(api);
    const { text } = await chat({ stream: true });
    expect(text.match(/^data: /gm)).toHaveLength(3);
  });

  it("ends with one error line and no [DONE] when the job fails mid-stream", async () => {
    failWith(api, "runtime_crashed", "half");
    const { status, text } = await chat({ stream: true });
    const lines = text.split("\n\n");
    expect([status, lines.length]).toEqual([200, 4]);
    expect(lines[2]).toBe(
      'data: {"error":{"message":"because","type":"server_error","param":null,"code":"runtime_crashed","retryable":true}}',
    );
    expect(text).not.toContain("[DONE]");
  });

  it.each([
    ["overloaded", "memory", ["half", "rest"]],
    ["island_lost", "lost", ["half"]],
  ] as const)(
    "ends with an error line with %s when its feed replica is cut, and cancels the job",
    async (code, reason, texts) => {
      api.jobs.onSubmit = (feed) => feed.push([token("half")]);
      const reader = new BodyReader(
        await api.fetch("POST", "/chat/completions", { body: { messages: MESSAGES, stream: true } }),
      );
      await reader.until("null}]}\n\n");
      await reader.until('"content":"half"},"logprobs":null,"finish_reason":null}]}\n\n');
      const feed = api.jobs.feeds.get("job_new1");
      if (reason === "memory") feed?.push([token("rest")]);
      feed?.cut(reason);
      const text = await reader.toEnd();
      const lines = text.trimEnd().split("\n\n");
      expect([...text.matchAll(/"content":"(\w+)"/g)].map(([, word]) => word)).toEqual(texts);
      expect(JSON.parse(lines.at(-1)?.slice("data: ".length) ?? "")).toMatchObject({
        error: { code, retryable: true },
      });
      expect(api.jobs.cancelled).toEqual(["job_new1"]);
    },
  );

  it.each([false, true])("cancels the job when its feed cannot be read here; stream %s", async (stream) => {
    api.jobs.onSubmit = () => void (api.jobs.failure = new OverloadedError());
    const { status, body } = await chat({ stream });
    expect([status, body.error.code, api.jobs.cancelled]).toEqual([503, "overloaded", ["job_new1"]]);
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
    // The later response shows that the first response had enough time to arrive.
    await api.call("GET", "/account");
    expect(hasAnswered).toBe(false);
    feed?.push([token("now")]);
    const reader = new BodyReader(await request);
    await reader.until('"content":"now"},"logprobs":null,"finish_reason":null}]}\n\n');
    feed?.end(DONE);
    expect(await reader.toEnd()).toContain("[DONE]");
  });

  it("sends headers and the reason after 5 s without output, and the reason every 5 s from then on", async () => {
    const request = api.fetch("POST", "/chat/completions", { body: { messages: MESSAGES, stream: true } });
    await eventually(() => api.jobs.feeds.get("job_new1")?.listeners === 1);
    const feed = api.jobs.feeds.get("job_new1");
    const job = api.jobs.jobs.get("job_new1");
    if (feed === undefined || job === undefined) throw new Error("No job was submitted");
    const explain = (message: string): void => {
      const waiting = { reason: "model_downloading" as const, position: 1, message };
      api.jobs.jobs.set(job.id, { ...job, waiting });
    };
    explain("model is downloading on 1 Island (59 %)");
    api.clock.advance(5_000);
    const reader = new BodyReader(await request);
    await reader.until("null}]}\n\n: waiting, model is downloading on 1 Island (59 %)\n\n");
    expect(api.clock.pendingTimers).toBe(1);
    explain("model is downloading on 1 Island (70 %)");
    api.clock.advance(5_000);
    await reader.until("(59 %)\n\n: waiting, model is downloading on 1 Island (70 %)\n\n");
    feed.push([token("now")]);
    await reader.until('"content":"now"},"logprobs":null,"finish_reason":null}]}\n\n');
    // The comment that was due by then, and the usual keepalive comment.
    api.clock.advance(5_000);
    api.clock.advance(5_000);
    feed.end(DONE);
    expect((await reader.toEnd()).match(/^: heartbeat$/gm)).toHaveLength(1);
    expect(api.clock.pendingTimers).toBe(0);
  });

  it("cancels the job when the client disconnects mid-stream", async () => {
    api.jobs.onSubmit = (feed) => feed.push([token("a")]);
    const reader = new BodyReader(
      await api.fetch("POST", "/chat/completions", { body: { messages: MESSAGES, stream: true } }),
    );
    await reader.until("null}]}\n\n");
    await reader.cancel();
    await eventually(() => api.jobs.cancelled.length === 1);
    expect([api.jobs.feeds.get("job_new1")?.listeners, api.clock.pendingTimers]).toEqual([0, 0]);
  });

  describe("treats a client that half-closes its connection as disconnected", () => {
    const connection = () => {
      const body = JSON.stringify({ messages: MESSAGES, stream: true });
      const head = `POST /api/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${api.key}\r\n`;
      const client = connect({ port: api.port, host: "127.0.0.1", allowHalfOpen: true });
      client.resume();
      return { client, request: `${head}Content-Length: ${body.length}\r\n\r\n${body}` };
    };

    it("after its job was submitted", async () => {
      api.jobs.onSubmit = (feed) => feed.push([token("a")]);
      const { client, request } = connection();
      const ended = once(client, "end");
      client.write(request);
      await eventually(() => api.jobs.submitted.length === 1);
      client.end();
      await eventually(() => api.jobs.cancelled.length === 1);
      await ended;
    });

    it("with its request, cancels the job, and lets the coordinator stop", async () => {
      api.jobs.onSubmit = (feed) => feed.push([token("a")]);
      const { client, request } = connection();
      const ended = once(client, "end");
      client.end(request);
      await ended;
      await eventually(() => api.jobs.cancelled.length === api.jobs.submitted.length);
    });
  });
});
