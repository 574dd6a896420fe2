import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FeedItem } from "../../../../coordinator/store/job-store.ts";
import { Api } from "../api.ts";
import { MESSAGES, answerWith } from "../chat-answers.ts";
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
    "takes content %j of an assistant that called tools, as official clients send it",
    async (content) => {
      answerWith(api, "x");
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

  it("answers with calls of tools, whole and in parts", async () => {
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

  it("refuses tools in a conversation, by name", async () => {
    const { body } = await api.call("POST", "/conversations", { body: { model: "tiny" } });
    const path = `/conversations/${body.data.id}/messages`;
    const { status, body: refusal } = await api.call("POST", path, { body: { content: "Hi", tools: [SUM] } });
    expect([status, refusal.error.details]).toMatchObject([422, [{ path: "tools" }]]);
  });
});
