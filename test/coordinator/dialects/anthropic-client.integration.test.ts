import Anthropic, { type APIError, AuthenticationError, NotFoundError, BadRequestError } from "@anthropic-ai/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api, eventually } from "../http/api.ts";
import { completeWith, failLate, failWith, token } from "../http/scripted-chats.ts";
import { DONE } from "../http/scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const ASKED = { model: "tiny", max_tokens: 20, messages: [{ role: "user" as const, content: "Hi" }] };

describe("the official Anthropic client", () => {
  const client = (baseURL = api.url, apiKey = api.key) => new Anthropic({ apiKey, baseURL, maxRetries: 0 });

  it.each(["", "/api"])("completes messages with %j, with its key in x-api-key", async (base) => {
    completeWith(api, "Hel", "lo");
    // The client's types no longer contain this field, but its older versions and other clients send it.
    const sampling = { top_p: 0.5, top_k: 3 };
    const message = await client(`${api.url}${base}`).messages.create({
      ...ASKED,
      ...sampling,
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "H" },
            { type: "text", text: "i" },
          ],
        },
        { role: "assistant", content: "Ho" },
        { role: "user", content: "Well?" },
      ],
      stop_sequences: ["."],
    });
    expect(message).toMatchObject({
      id: "job_new1",
      model: "tiny",
      content: [{ type: "text", text: "Hello" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 3, output_tokens: 2, cost: 1.5 },
    });
    expect(api.jobs.submitted[0]?.input).toEqual({
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Ho" },
        { role: "user", content: "Well?" },
      ],
      max_tokens: 20,
      temperature: 1,
      top_p: 0.5,
      top_k: 3,
      stop: ["."],
      reasoning_effort: "none",
    });
  });

  it("streams a message", async () => {
    completeWith(api, "Hel", "lo");
    const stream = client().messages.stream(ASKED);
    const [types, texts]: [string[], string[]] = [[], []];
    let last: object = {};
    stream.on("text", (text) => void texts.push(text));
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === "message_delta") last = event.usage;
    }
    expect(types.filter((type) => type !== "content_block_delta")).toEqual([
      "message_start",
      "content_block_start",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    const { usage, stop_reason: reason } = await stream.finalMessage();
    expect([texts, usage.input_tokens, usage.output_tokens, reason]).toEqual([["Hel", "lo"], 3, 2, "end_turn"]);
    expect(last).toMatchObject({ cost: 1.5 });
  });

  async function streamed(): Promise<Anthropic.RawMessageStreamEvent[]> {
    const events: Anthropic.RawMessageStreamEvent[] = [];
    for await (const event of await client().messages.create({ ...ASKED, stream: true })) events.push(event);
    return events;
  }

  it("reads the prompt's tokens from message_start", async () => {
    api.jobs.onSubmit = (feed) => {
      feed.notePrompt(13);
      feed.push([token("15")]);
      feed.end(DONE);
    };
    const [first] = await streamed();
    expect(first).toMatchObject({ type: "message_start", message: { usage: { input_tokens: 13, output_tokens: 0 } } });
  });

  it("gets text blocks without citations", async () => {
    completeWith(api, "15");
    const { content } = await client().messages.create(ASKED);
    expect(content).toEqual([{ type: "text", text: "15" }]);
    const start = (await streamed()).find(({ type }) => type === "content_block_start");
    expect(start).toMatchObject({ content_block: { type: "text", text: "" } });
    expect(JSON.stringify(start)).not.toContain("citations");
  });

  it.each([
    ["context_length_exceeded", "invalid_request_error"],
    ["invalid_input", "invalid_request_error"],
    ["runtime_crashed", "api_error"],
  ] as const)("gets a mid-stream error type that shows whether %s is the request's fault", async (code, type) => {
    failWith(api, code, "half");
    const error = await client()
      .messages.stream(ASKED)
      .finalMessage()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ error: { error: { type, code } } });
  });

  it("throws on a mid-stream error", async () => {
    failWith(api, "runtime_crashed", "half");
    const stream = client().messages.stream(ASKED);
    await expect(stream.finalMessage()).rejects.toThrow("because");
  });

  it("gets JSON that matches a schema", async () => {
    completeWith(api, "{}");
    const schema = { type: "object", properties: {}, additionalProperties: false };
    await client().messages.create({ ...ASKED, output_config: { format: { type: "json_schema", schema } } });
    const format = { type: "json_schema", json_schema: { name: "output", schema, strict: true } };
    expect(api.jobs.submitted[0]?.input["response_format"]).toEqual(format);
  });

  const TOOL = { name: "sum", description: "Adds", input_schema: { type: "object" as const, properties: {} } };
  const callTool = (): void => {
    api.jobs.onSubmit = (feed) => {
      const part = { type: "tool_call" as const, index: 0, count: 1 };
      feed.push([token("Well. "), { ...part, id: "call_1", name: "sum", arguments: '{"a"' }]);
      feed.push([
        { ...part, arguments: ":1}" },
        { ...part, index: 1, id: "call_2", name: "sum", arguments: "{}" },
      ]);
      feed.end({ ...DONE, finishReason: "tool_calls" });
    };
  };

  it("gets tool calls, complete and streamed, and sends their results", async () => {
    callTool();
    const request = { ...ASKED, tools: [TOOL], tool_choice: { type: "any" as const, disable_parallel_tool_use: true } };
    const message = await client().messages.create(request);
    const content = [
      { type: "text", text: "Well. " },
      { type: "tool_use", id: "call_1", name: "sum", input: { a: 1 } },
      { type: "tool_use", id: "call_2", name: "sum", input: {} },
    ];
    expect([message.content, message.stop_reason]).toEqual([content, "tool_use"]);
    const { description, input_schema: parameters, name } = TOOL;
    expect(api.jobs.submitted[0]?.input).toMatchObject({
      tools: [{ type: "function", function: { name, description, parameters } }],
      tool_choice: "required",
      parallel_tool_calls: false,
    });
    expect(await client().messages.stream(request).finalMessage()).toMatchObject({ content, stop_reason: "tool_use" });
    const results = ["call_1", "call_2"].map((id) => ({ type: "tool_result" as const, tool_use_id: id, content: id }));
    const next = [...results, { type: "text" as const, text: "And?" }];
    const messages = [...ASKED.messages, { role: "assistant" as const, content: message.content }];
    await client().messages.create({ ...ASKED, messages: [...messages, { role: "user", content: next }] });
    const call = (id: string, args: string) => ({ id, type: "function", function: { name: "sum", arguments: args } });
    expect(api.jobs.submitted[2]?.input["messages"]).toEqual([
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Well. ", tool_calls: [call("call_1", '{"a":1}'), call("call_2", "{}")] },
      { role: "tool", tool_call_id: "call_1", content: "call_1" },
      { role: "tool", tool_call_id: "call_2", content: "call_2" },
      { role: "user", content: "And?" },
    ]);
  });

  it.each([
    [{ tools: [{ type: "custom", input_schema: {} }] }, "tools.0.name"],
    [{ tools: [{ ...TOOL, input_schema: { type: "string" } }] }, "tools.0.input_schema"],
    [{ tool_choice: { type: "any" } }, "tool_choice"],
  ])("gets an error that names the refused %j", async (body, path) => {
    const answer = await api.call("POST", "/messages", { body: { ...ASKED, ...body } });
    expect([answer.status, answer.body.error.details[0].path]).toEqual([422, path]);
  });

  it("counts the tokens of a prompt with a job of one token", async () => {
    completeWith(api, "x");
    const { model, messages } = ASKED;
    expect(await client().messages.countTokens({ model, messages, system: "S" })).toEqual({ input_tokens: 3 });
    expect(api.jobs.submitted[0]?.input).toEqual({
      messages: [{ role: "system", content: "S" }, ...messages],
      max_tokens: 1,
      reasoning_effort: "none",
    });
  });

  it("gets the stop sequence that ended a message, if it requested that one", async () => {
    api.jobs.onSubmit = (feed) => {
      feed.push([token("Hello")]);
      feed.end({ ...DONE, stopSequence: "END" });
    };
    const stopped = { stop_reason: "stop_sequence", stop_sequence: "END" };
    const request = { ...ASKED, stop_sequences: [".", "END"] };
    expect(await client().messages.create(request)).toMatchObject(stopped);
    expect(await client().messages.stream(request).finalMessage()).toMatchObject(stopped);
    const other = await client().messages.create({ ...ASKED, stop_sequences: ["."] });
    expect([other.stop_reason, other.stop_sequence]).toEqual(["end_turn", null]);
  });

  it("gets reasoning as blocks, complete and streamed, and may send them back, although the model does not get them", async () => {
    api.jobs.onSubmit = (feed) => {
      feed.push([
        { type: "reasoning", content: "Hm", count: 1 },
        { type: "reasoning", content: ", 15", count: 2 },
        token("15"),
      ]);
      feed.end(DONE);
    };
    const content = [
      { type: "thinking", thinking: "Hm, 15", signature: "" },
      { type: "text", text: "15" },
    ];
    const request = { ...ASKED, thinking: { type: "adaptive" as const } };
    const made = await client().messages.create(request);
    expect(made.content).toEqual(content);
    expect((await client().messages.stream(request).finalMessage()).content).toEqual(content);
    const messages = [
      ...ASKED.messages,
      { role: "assistant" as const, content: made.content },
      { role: "user" as const, content: "And?" },
    ];
    await client().messages.create({ ...ASKED, messages });
    const [first, , third] = api.jobs.submitted.map(({ input }) => input);
    expect(first).not.toHaveProperty("reasoning_effort");
    expect(third?.["messages"]).toEqual([
      { role: "user", content: "Hi" },
      { role: "assistant", content: "15" },
      { role: "user", content: "And?" },
    ]);
    const enabled = { ...ASKED, thinking: { type: "enabled", budget_tokens: 1_024 } };
    const unthinking = await api.call("POST", "/messages", { body: enabled });
    expect([unthinking.status, unthinking.headers.get("atoll-ignored")]).toEqual([200, "thinking"]);
  });

  it("gets errors of the right class and type", async () => {
    const thrownBy = (asked: Promise<unknown>): Promise<unknown> => asked.catch((error: unknown) => error);
    expect(await thrownBy(client(api.url, "ak_wrong").messages.create(ASKED))).toBeInstanceOf(AuthenticationError);
    const missing = await thrownBy(client().messages.create({ ...ASKED, model: "none" }));
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing).toMatchObject({ type: "not_found_error", requestID: expect.stringMatching(/./) });
    const image = { type: "image" as const, source: { type: "url" as const, url: "https://x" } };
    const wrong = await thrownBy(
      client().messages.create({ ...ASKED, messages: [{ role: "user", content: [image] }] }),
    );
    expect(wrong).toBeInstanceOf(BadRequestError);
    expect((wrong as APIError).message).toContain("reads only text");
    failWith(api, "wait_timeout");
    expect(await thrownBy(client().messages.create(ASKED))).toMatchObject({ status: 503, type: "overloaded_error" });
  });

  it("throws on an error after the headers and comments of a waiting stream", async () => {
    failLate(api, "no Island for a message");
    const stream = await client().messages.create({ ...ASKED, stream: true });
    const read = async (): Promise<void> => {
      for await (const event of stream) expect(event.type).toBe("message_start");
    };
    await expect(read()).rejects.toThrow("no Island for a message");
  });

  it("cancels the job when it disconnects", async () => {
    const controller = new AbortController();
    const asked = client().messages.create(ASKED, { signal: controller.signal });
    await eventually(() => api.jobs.submitted.length === 1);
    controller.abort();
    await expect(asked).rejects.toThrow();
    await eventually(() => api.jobs.cancelled.length === 1);
  });
});
