import { OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FeedItem } from "../../../../coordinator/store/jobs/job-store.ts";
import { Api } from "../../http/api.ts";
import { token } from "../../http/scripted-chats.ts";
import { DONE } from "../../http/scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const client = () => new OpenAI({ apiKey: api.key, baseURL: `${api.url}/api/v1`, maxRetries: 0 }).responses;
const inputs = () => api.jobs.submitted.map(({ input }) => input);
/** Scripted jobs do not keep the data that real ones keep after their end. */
const complete = (id: string) => {
  const job = api.jobs.jobs.get(id);
  if (job !== undefined) {
    api.jobs.jobs.set(id, { ...job, state: "completed", finishReason: "tool_calls", usage: DONE.usage });
  }
};

const SUM = { type: "function" as const, name: "sum", parameters: {}, strict: null };
const CALL_PARTS: FeedItem[] = [
  token("Let me see."),
  { type: "tool_call", index: 0, id: "call_1", name: "sum", arguments: "", count: 5 },
  { type: "tool_call", index: 0, arguments: '{"a":', count: 2 },
  { type: "tool_call", index: 0, arguments: "7}", count: 2 },
  { type: "tool_call", index: 1, id: "call_2", name: "sum", arguments: "{}", count: 9 },
];
/** Completes the next chat with a text and two calls. */
const callSum = (finishReason: "tool_calls" | "length" = "tool_calls") => {
  api.jobs.onSubmit = (feed) => {
    feed.push(CALL_PARTS);
    feed.end({ ...DONE, finishReason });
  };
};

describe("tools of responses", () => {
  const ask = { model: "tiny", input: "How much?", tools: [SUM] };
  const call = (number: number, args: string) => ({
    id: `fc_new1_${number - 1}`,
    type: "function_call",
    status: "completed",
    call_id: `call_${number}`,
    name: "sum",
    arguments: args,
  });

  it("are called after a text, and the response repeats the request's tools", async () => {
    callSum();
    const { output, ...told } = await client().create({
      ...ask,
      tool_choice: { type: "function", name: "sum" },
      parallel_tool_calls: false,
    });
    expect(output).toMatchObject([{ type: "message", status: "completed" }, call(1, '{"a":7}'), call(2, "{}")]);
    expect(told).toMatchObject({
      status: "completed",
      output_text: "Let me see.",
      tools: [{ ...SUM, description: null }],
      tool_choice: { type: "function", name: "sum" },
      parallel_tool_calls: false,
    });
    expect(inputs()[0]).toMatchObject({
      tools: [{ type: "function", function: { name: "sum", parameters: {} } }],
      tool_choice: { type: "function", function: { name: "sum" } },
      parallel_tool_calls: false,
    });
  });

  it("can be limited to some of them", async () => {
    callSum();
    const choice = {
      type: "allowed_tools" as const,
      mode: "required" as const,
      tools: [{ type: "function", name: "sum" }],
    };
    expect((await client().create({ ...ask, tool_choice: choice })).tool_choice).toEqual(choice);
    expect(inputs()[0]?.["tool_choice"]).toEqual({
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "sum" } }] },
    });
  });

  it("have their calls streamed in parts, which the client assembles", async () => {
    callSum();
    const stream = client().stream(ask);
    const types: string[] = [];
    for await (const event of stream) types.push(event.type.replace("response.", ""));
    expect(types.slice(2)).toEqual([
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "completed",
    ]);
    const { output } = await stream.finalResponse();
    expect(output).toMatchObject([{ type: "message" }, call(1, '{"a":7}'), call(2, "{}")]);
  });

  it("have the same items in each event of a stream", async () => {
    callSum("length");
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client().create({ ...ask, stream: true })) events.push(event);
    const items = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
    const [last] = events.slice(-1);
    expect(last).toMatchObject({ type: "response.incomplete", response: { output: items } });
    expect(items.map((item) => "status" in item && item.status)).toEqual(["completed", "completed", "incomplete"]);
  });

  it("send their outputs with the calls or after a stored response", async () => {
    callSum();
    const first = await client().create({ ...ask, input: "How much?" });
    complete("job_new1");
    expect((await client().retrieve(first.id)).output).toEqual(first.output);
    const outputs = ["call_1", "call_2"].map((id) => ({
      type: "function_call_output" as const,
      call_id: id,
      output: id === "call_1" ? "15" : [{ type: "input_text" as const, text: "0" }],
    }));
    const question = { role: "user" as const, content: "How much?" };
    const input = [question, ...first.output, ...outputs] as OpenAI.Responses.ResponseInput;
    await client().create({ ...ask, input });
    await client().create({ ...ask, input: outputs, previous_response_id: first.id });
    const named = (id: string, args: string) => ({ id, type: "function", function: { name: "sum", arguments: args } });
    const messages = [
      question,
      {
        role: "assistant",
        content: "Let me see.",
        tool_calls: [named("call_1", '{"a":7}'), named("call_2", "{}")],
      },
      { role: "tool", tool_call_id: "call_1", content: "15" },
      { role: "tool", tool_call_id: "call_2", content: "0" },
    ];
    expect(inputs().slice(1)).toMatchObject([{ messages }, { messages }]);
  });
});
