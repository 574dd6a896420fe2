import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FeedItem } from "../../../../coordinator/store/jobs/job-store.ts";
import { Api } from "../api.ts";
import { MESSAGES, completeWith } from "../scripted-chats.ts";
import { DONE } from "../scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const chat = (body: Record<string, unknown> = {}) =>
  api.call("POST", "/chat/completions", { body: { messages: MESSAGES, ...body } });

describe("POST /chat/completions with tools", () => {
  it.each([null, undefined])(
    "accepts content %j of an assistant message with tool calls, as official clients send it",
    async (content) => {
      completeWith(api, "x");
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
        { role: "assistant", content: "", tool_calls: calls },
        { role: "tool", content: "15", tool_call_id: "call_1" },
      ]);
    },
  );

  const SUM = { type: "function", function: { name: "sum" } };

  it("returns tool calls, complete and in parts", async () => {
    const parts: FeedItem[] = [
      { type: "tool_call", index: 0, id: "call_1", name: "sum", arguments: "", count: 5 },
      { type: "tool_call", index: 0, arguments: '{"a":', count: 2 },
      { type: "tool_call", index: 0, arguments: "7}", count: 2 },
      { type: "tool_call", index: 1, id: "call_2", name: "sum", arguments: "{}", count: 9 },
    ];
    api.jobs.onSubmit = (feed) => {
      feed.push(parts);
      feed.end({ ...DONE, finishReason: "tool_calls", output: { made: "of the calls" } });
    };
    const { body } = await chat({ tools: [SUM], tool_choice: "auto", parallel_tool_calls: null });
    const call = (id: string, args: string) => ({ id, type: "function", function: { name: "sum", arguments: args } });
    expect(body.choices).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: null, tool_calls: [call("call_1", '{"a":7}'), call("call_2", "{}")] },
        logprobs: null,
        finish_reason: "tool_calls",
      },
    ]);
    expect(api.jobs.submitted[0]?.input).toEqual({ messages: MESSAGES, tools: [SUM], tool_choice: "auto" });
    const { text } = await chat({ tools: [SUM], stream: true });
    const chunks = text.split("\n\n").filter((line) => line.startsWith("data: {"));
    const choices = chunks.map((line) => JSON.parse(line.slice(6)).choices[0]);
    expect(choices.map(({ delta }) => delta.tool_calls?.[0]).filter(Boolean)).toEqual([
      { index: 0, id: "call_1", type: "function", function: { name: "sum", arguments: "" } },
      { index: 0, function: { arguments: '{"a":' } },
      { index: 0, function: { arguments: "7}" } },
      { index: 1, id: "call_2", type: "function", function: { name: "sum", arguments: "{}" } },
    ]);
    expect(choices.at(-1)).toMatchObject({ delta: {}, finish_reason: "tool_calls" });
  });

  it("treats tool_choice any, as Mistral's client sends it, as required", async () => {
    completeWith(api, "x");
    expect((await chat({ tools: [SUM], tool_choice: "any" })).status).toBe(200);
    expect(api.jobs.submitted[0]?.input).toMatchObject({ tool_choice: "required" });
    const { status, body } = await chat({ tools: [SUM], tool_choice: "some" });
    expect([status, body.error.param]).toEqual([422, "tool_choice"]);
  });

  it("accepts parts of an earlier completion that name a role, as the OpenAI Agents SDK sends them", async () => {
    completeWith(api, "x");
    const answered = { role: "assistant", content: [{ type: "text", text: "15", role: "assistant" }] };
    expect((await chat({ messages: [...MESSAGES, answered, ...MESSAGES] })).status).toBe(200);
    expect(api.jobs.submitted[0]?.input["messages"]).toMatchObject([{}, { role: "assistant", content: "15" }, {}]);
  });

  it("uses the schema given with json_object, and names it in errors", async () => {
    completeWith(api, "{}");
    const schema = { type: "object", properties: { sum: { type: "integer" } } };
    const formatted = (given: unknown) => chat({ response_format: { type: "json_object", schema: given } });
    expect((await formatted(schema)).status).toBe(200);
    expect((await formatted(null)).status).toBe(200);
    expect(api.jobs.submitted.map(({ input }) => input["response_format"])).toMatchObject([
      { type: "json_schema", json_schema: { schema } },
      { type: "json_object" },
    ]);
    const { status, body } = await formatted({ properties: { sum: { not: {} } } });
    expect([status, body.error.param]).toEqual([422, "response_format.schema.properties.sum"]);
    expect((await formatted(5)).body.error.param).toBe("response_format.schema");
  });

  it("accepts 256 KB of tools and hundreds of messages, up to 1 MiB", async () => {
    completeWith(api, "x");
    const tools = Array.from({ length: 120 }, (_, at) => ({
      type: "function",
      function: { name: `tool${at}`, description: "x".repeat(2_000), parameters: { type: "object" } },
    }));
    const messages = Array.from({ length: 700 }, () => ({ role: "user", content: "y".repeat(1_000) }));
    expect((await chat({ tools, messages })).status).toBe(200);
    const larger = tools.map((tool) => ({ ...tool, function: { ...tool.function, description: "x".repeat(2_300) } }));
    const { status, body } = await chat({ tools: larger, messages: MESSAGES });
    expect([status, body.error.message]).toEqual([422, "tools: are larger than 262144 bytes as JSON"]);
  });

  it("returns n choices, each from a job with its own seed", async () => {
    completeWith(api, "Hel", "lo");
    const { body } = await chat({ n: 3, seed: 4_294_967_294 });
    expect(body).toMatchObject({ id: "job_new1", usage: { prompt_tokens: 9, completion_tokens: 6, total_tokens: 15 } });
    expect(body.choices).toEqual(
      [0, 1, 2].map((index) => {
        const message = { role: "assistant", content: "Hello" };
        return { index, message, logprobs: null, finish_reason: "stop" };
      }),
    );
    const seeds = api.jobs.submitted.map(({ input }) => input["seed"]);
    expect(seeds).toEqual([4_294_967_294, 4_294_967_295, 0]);
  });

  const choicesOf = (text: string) =>
    text
      .split("\n\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice(6)));

  it("streams n choices, one after the other, with one usage and one end", async () => {
    completeWith(api, "Hel", "lo");
    const { text, status } = await chat({ n: 2, stream: true, stream_options: { include_usage: true } });
    const chunks = choicesOf(text);
    const told = chunks.flatMap(({ choices }) =>
      choices.map(({ index, delta, finish_reason: end }: Record<string, Record<string, string>>) => [
        index,
        delta?.["content"] ?? end,
      ]),
    );
    expect([status, told]).toEqual([
      200,
      [0, 1].flatMap((index) => ["", "Hel", "lo", "stop"].map((part) => [index, part])),
    ]);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 6, completion_tokens: 4, cost: 3 } });
    expect(text.match(/\[DONE\]/g)).toHaveLength(1);
    expect(api.jobs.submitted).toHaveLength(2);
  });

  it("ends a stream of n choices at the first that fails", async () => {
    completeWith(api, "Hel");
    const answer = api.jobs.onSubmit;
    api.jobs.onSubmit = (feed, job) => {
      if (api.jobs.submitted.length === 1) answer(feed, job);
      else feed.end({ type: "error", code: "island_lost", message: "because", retryable: true });
    };
    const failed = await chat({ n: 3, stream: true });
    expect(choicesOf(failed.text).at(-1)).toMatchObject({ error: { code: "island_lost" } });
    expect([failed.text.includes("[DONE]"), api.jobs.submitted.length]).toEqual([false, 2]);
  });

  it("refuses tools in a conversation by name", async () => {
    const { body } = await api.call("POST", "/conversations", { body: { model: "tiny" } });
    const path = `/conversations/${body.data.id}/messages`;
    const { status, body: refusal } = await api.call("POST", path, { body: { content: "Hi", tools: [SUM] } });
    expect([status, refusal.error.details]).toMatchObject([422, [{ path: "tools" }]]);
  });
});
