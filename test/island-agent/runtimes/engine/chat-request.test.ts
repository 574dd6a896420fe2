import { describe, expect, it } from "vitest";
import { chatRequestTo } from "../../../../island-agent/runtimes/engine/chat-request.ts";
import type { EngineProfile } from "../../../../island-agent/runtimes/engine/engine-profile.ts";
import { lmStudio } from "../../../../island-agent/runtimes/engine/profiles/lm-studio.ts";
import { llamaServer } from "../../../../island-agent/runtimes/engine/profiles/llama-server.ts";
import { sglang } from "../../../../island-agent/runtimes/engine/profiles/sglang.ts";
import { vllm } from "../../../../island-agent/runtimes/engine/profiles/vllm.ts";
import type { RunRequest } from "../../../../island-agent/runtimes/runtime.ts";
import { readChat } from "../../../../island-agent/runtimes/text-input.ts";

function requestFor(
  input: object,
  profile: Pick<EngineProfile, "resume" | "chatMembers"> = { resume: null },
  run: Partial<RunRequest> = {},
): Readonly<Record<string, unknown>> {
  return chatRequestTo(profile, { id: "m" }, readChat({ prompt: "Hi", ...input }), { resume: null, ...run }).body;
}

describe("a request to an engine", () => {
  it("asks for a stream with usage of the engine's model", () => {
    expect(requestFor({})).toEqual({
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      temperature: 0.7,
      max_tokens: 1_024,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("has the sampling of the chat, without its defaults", () => {
    const sampling = { top_p: 0.5, top_k: 3, min_p: 0.1, seed: 7, stop: ["END"], logit_bias: { "5": -100 } };
    const penalties = { frequency_penalty: 1, presence_penalty: -1, repeat_penalty: 1.5 };
    expect(requestFor({ ...sampling, ...penalties, temperature: 0 })).toMatchObject({
      ...sampling,
      ...penalties,
      temperature: 0,
    });
  });

  it("sends messages of developers as those of the system, and calls with their results", () => {
    const calls = [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }];
    const messages = [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", content: "low", tool_call_id: "c" },
    ];
    expect(requestFor({ prompt: undefined, messages })["messages"]).toMatchObject([
      { role: "system", content: "Be brief." },
      { role: "user" },
      { role: "assistant", content: "", tool_calls: calls },
      { role: "tool", tool_call_id: "c" },
    ]);
  });

  it("names a tool by offering only this one", () => {
    const tools = ["f", "g"].map((name) => ({ type: "function", function: { name, parameters: { type: "object" } } }));
    const named = { type: "function", function: { name: "g" } };
    expect(requestFor({ tools, tool_choice: named })).toMatchObject({
      tools: [{ function: { name: "g" } }],
      tool_choice: "required",
      parallel_tool_calls: false,
    });
  });

  it("continues the text of another Island as a message of the assistant", () => {
    const resume = { text: "The sea", tokens: 3 };
    expect(requestFor({ max_tokens: 10 }, llamaServer, { resume })).toMatchObject({
      max_tokens: 7,
      messages: [{ role: "user" }, { role: "assistant", content: "The sea" }],
      chat_template_kwargs: { enable_thinking: false },
    });
  });

  it("tells vLLM to continue the last message", () => {
    expect(requestFor({}, vllm, { resume: { text: "The sea", tokens: 3 } })).toMatchObject({
      continue_final_message: true,
      add_generation_prompt: false,
    });
  });

  it("continues a raw prompt in the prompt", () => {
    const resume = { text: " lived", tokens: 2 };
    const chat = readChat({ prompt: "Once", raw: true });
    const { path, body } = chatRequestTo(llamaServer, { id: "m" }, chat, { resume });
    expect([path, body["prompt"], body["messages"]]).toEqual(["/v1/completions", "Once lived", undefined]);
  });

  it.each([vllm, sglang])("separates the cached prompts of accounts: $name", (profile) => {
    expect(requestFor({}, profile, { cacheKey: "a" })["cache_salt"]).toBe("a");
    const [first, second] = [requestFor({}, profile), requestFor({}, profile)];
    expect(first["cache_salt"]).not.toBe(second["cache_salt"]);
  });

  it("reuses no cached prompt of llama-server, whose cache has no keys", () => {
    expect(requestFor({}, llamaServer, { cacheKey: "a" })["cache_prompt"]).toBe(false);
  });

  it("has vLLM's names and levels", () => {
    expect(requestFor({ repeat_penalty: 1.2, top_k: 0, reasoning_effort: "none" }, vllm)).toMatchObject({
      repetition_penalty: 1.2,
      top_k: -1,
      reasoning_effort: "low",
    });
  });

  it("asks LM Studio for any object by a schema, because it has no json_object", () => {
    const { response_format: format } = requestFor({ response_format: { type: "json_object" } }, lmStudio);
    expect(format).toMatchObject({ type: "json_schema", json_schema: { schema: { type: "object" } } });
  });

  it("leaves LM Studio's schemas as they are", () => {
    const format = { type: "json_schema", json_schema: { name: "x", schema: { type: "array" } } };
    expect(requestFor({ response_format: format }, lmStudio)["response_format"]).toEqual(format);
  });
});
