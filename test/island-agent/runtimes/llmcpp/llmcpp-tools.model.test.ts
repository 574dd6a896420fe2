import { readGgufFileInfo } from "node-llama-cpp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { toolCallsOf } from "../../../../coordinator/jobs/tool-calls.ts";
import { makeCargo, makeRequest, makeRuntime, ModelFolder, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { place: { enum: ["reef", "bay"] }, days: { $ref: "#/$defs/days" } },
      required: ["place", "days"],
      $defs: { days: { type: "array", items: { type: "boolean" }, minItems: 1, maxItems: 2 } },
    },
  },
};
const tide = { type: "function", function: { name: "get_tide", description: "Returns the tide" } };

describe("tiny-islander with tools", () => {
  let llm: HostedCargo;
  beforeAll(async () => {
    llm = await makeRuntime().load(makeCargo(), TINY_ISLANDER, NEVER);
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  async function run(input: Record<string, unknown>) {
    const items: OutputItem[] = [];
    const request = makeRequest({ prompt: "What is the tide?", tools: [weather, tide], ...input });
    const result = await llm.run(request, (item) => items.push(item), NEVER);
    const calls = toolCallsOf(items).map(({ id, function: { name, arguments: args } }) => ({ id, name, args }));
    const text = items.map((item) => (item.type === "token" ? item.content : "")).join("");
    return { ...result, items, calls, text };
  }

  it("calls one of the tools, in several parts, if a call is required", async () => {
    const { calls, items, finishReason, usage, text } = await run({
      tool_choice: "required",
      parallel_tool_calls: false,
    });
    expect([calls.length, finishReason, text]).toEqual([1, "tool_calls", ""]);
    expect(["get_weather", "get_tide"]).toContain(calls[0]?.name);
    expect(calls[0]?.id).toMatch(/^call_\w{32}$/);
    const counted = items.reduce((sum, item) => sum + ("count" in item ? item.count : 0), 0);
    expect(usage.completionTokens).toBeGreaterThanOrEqual(counted);
    expect(usage.completionTokens).toBeLessThan(counted + 20);
  });

  it("calls only the named tool, with arguments of its schema", async () => {
    const tool_choice = { type: "function", function: { name: "get_weather" } };
    const { calls, items } = await run({ tool_choice, parallel_tool_calls: false });
    expect(calls.map(({ name }) => name)).toEqual(["get_weather"]);
    const args = JSON.parse(calls[0]?.args ?? "");
    expect(["reef", "bay"]).toContain(args.place);
    expect(args.days.every((day: unknown) => typeof day === "boolean")).toBe(true);
    expect(items.filter(({ type }) => type === "tool_call").length).toBeGreaterThan(3);
  });

  it("keeps bounds and patterns at each level of a recursive schema", async () => {
    const node = {
      type: "object",
      properties: {
        hour: { type: "integer", minimum: 7, maximum: 9 },
        code: { type: "string", pattern: "^[A-C]{2}$" },
        next: { $ref: "#/$defs/Node" },
      },
      required: ["hour", "code"],
      additionalProperties: false,
    };
    const parameters = { $ref: "#/$defs/Node", $defs: { Node: node } };
    const tools = [{ type: "function", function: { name: "ring", parameters } }];
    const ask = { tools, tool_choice: "required", parallel_tool_calls: false, temperature: 2, max_tokens: 200 };
    const runs = await Promise.all(Array.from({ length: 8 }, (_, seed) => run({ ...ask, seed })));
    // The model nests objects until the completion is cut off.
    const args = runs.map(({ calls }) => calls[0]?.args ?? "");
    const hours = args.flatMap((each) => [...each.matchAll(/"hour":\s*([^,\s]+),/g)].map(([, hour]) => hour));
    const codes = args.flatMap((each) => [...each.matchAll(/"code":\s*"([^"]*)"/g)].map(([, code]) => code));
    expect([hours.length > 16, new Set(hours)]).toEqual([true, new Set(["7", "8", "9"])]);
    for (const code of codes) expect(code).toMatch(/^[A-C]{2}$/);
  });

  it("calls only allowed tools, and without arguments if they have none", async () => {
    const tools = [{ type: "function", function: { name: "get_tide" } }];
    const tool_choice = { type: "allowed_tools", allowed_tools: { mode: "required", tools } };
    const { calls } = await run({ tool_choice, parallel_tool_calls: false });
    expect(calls.map(({ name, args }) => [name, JSON.parse(args)])).toEqual([["get_tide", {}]]);
  });

  it("returns at most 16 calls, each with its own id and index", async () => {
    const runs = await Promise.all(
      Array.from({ length: 12 }, (_, seed) =>
        run({ tool_choice: "required", tools: [tide], max_tokens: 400, temperature: 2, seed }),
      ),
    );
    const { calls, items } = runs.toSorted((a, b) => b.calls.length - a.calls.length)[0] ?? expect.fail();
    expect(calls.length).toBeGreaterThan(1);
    expect(calls.length).toBeLessThanOrEqual(16);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
    expect(items.flatMap((item) => (item.type === "tool_call" && item.id ? [item.index] : []))).toEqual(
      calls.map((_, index) => index),
    );
  });

  it("returns text or calls for auto, and text for none", async () => {
    expect((await run({ tool_choice: "none" })).calls).toEqual([]);
    const auto = await run({ max_tokens: 60 });
    expect(auto.text.length + auto.calls.length).toBeGreaterThan(0);
    expect(auto.text).not.toContain("<tool_call>");
  });

  it("accepts calls and their results in the history", async () => {
    const call = { id: "call_1", type: "function", function: { name: "get_tide", arguments: "{}" } };
    const messages = [
      { role: "user", content: "What is the tide?" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "low" },
    ];
    const { text, calls, finishReason } = await run({ prompt: undefined, messages, max_tokens: 30 });
    expect(text.length + calls.length).toBeGreaterThan(0);
    expect(["stop", "length", "tool_calls"]).toContain(finishReason);
  });

  it("writes calls or the JSON of its response format, never other text", async () => {
    const schema = { type: "object", properties: { said: { const: "<tool_call>" } }, required: ["said"] };
    const formats = [{ type: "json_schema", json_schema: { name: "a", schema } }, { type: "json_object" }];
    const inputs = formats.flatMap((response_format) =>
      Array.from({ length: 4 }, (_, seed) => ({ response_format, seed, temperature: 1.5, max_tokens: 300 })),
    );
    const runs = await Promise.all(inputs.map((input) => run({ tools: [tide], ...input })));
    for (const [index, { text, calls, finishReason }] of runs.entries()) {
      if (finishReason === "length") continue;
      expect(finishReason).toBe(calls.length > 0 ? "tool_calls" : "stop");
      if (calls.length > 0) expect(text).toBe("");
      else expect(JSON.parse(text)).toEqual(index < 4 ? { said: "<tool_call>" } : expect.any(Object));
    }
    // The tiny model prefers calls. The bias makes it start with the JSON.
    const { metadata } = await readGgufFileInfo(TINY_ISLANDER);
    const ids = metadata.tokenizer.ggml.tokens.flatMap((token, id) => (token.startsWith("{") ? [[id, 100]] : []));
    const logit_bias = Object.fromEntries(ids) as Record<string, number>;
    const { text, calls } = await run({ tools: [tide], response_format: formats[0], logit_bias, max_tokens: 300 });
    expect([JSON.parse(text), calls]).toEqual([{ said: "<tool_call>" }, []]);
  });

  it("ends with length within a call", async () => {
    const { finishReason, usage } = await run({ tool_choice: "required", max_tokens: 5 });
    expect([finishReason, usage.completionTokens]).toEqual(["length", 5]);
  });
});

describe("a model with special tokens for tool calls", () => {
  const CALL = ["<tool_call>", '\n{"name": "get_tide", "arguments": {}}\n', "</tool_call>"];
  const folder = new ModelFolder();
  afterAll(() => folder[Symbol.dispose]());

  it.each([
    ["shown", []],
    ["control", ["<tool_call>", "</tool_call>"]],
  ])("returns its calls if these are %s tokens", async (_kind, control) => {
    const file = folder.write("calls.gguf", { says: CALL, control });
    await using llm = await makeRuntime().load(makeCargo(), file, NEVER);
    const items: OutputItem[] = [];
    const request = makeRequest({ prompt: "Tide?", tools: [tide], temperature: 0, max_tokens: 200 });
    const { finishReason } = await llm.run(request, (item) => items.push(item), NEVER);
    expect(toolCallsOf(items).map((call) => call.function)).toEqual([{ name: "get_tide", arguments: "{}" }]);
    expect(finishReason).toBe("tool_calls");
  });
});
