import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "./api.ts";
import { completeWith } from "./scripted-chats.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const filled = <T>(count: number, entry: T): T[] => Array.from({ length: count }, () => entry);
const refusal = async (path: string, body: object): Promise<unknown> => {
  const { status, body: response } = await api.call("POST", path, { body });
  return [status, response.error.param ?? response.error.details[0].path, response.error.message.replace(/^\S+: /, "")];
};

/** Each invalid part has its own faults. Refusing them one by one would take seconds. */
describe("a request with too many parts", () => {
  const message = "must have at most 16384 parts in total";
  const parts = filled(4_000, { role: "user", content: filled(60, {}) });
  const calls = filled(2_000, { role: "assistant", tool_calls: filled(128, {}) });
  const results = filled(70, { role: "user", content: [{ type: "tool_result", content: filled(4_000, {}) }] });
  const outputs = filled(4_000, { type: "function_call_output", output: filled(50, {}) });

  it.each<[string, object, string]>([
    ["/chat/completions", { messages: parts }, "messages"],
    ["/chat/completions", { messages: calls }, "messages"],
    ["/messages", { model: "tiny", max_tokens: 1, messages: parts }, "messages"],
    ["/messages", { model: "tiny", max_tokens: 1, messages: results }, "messages"],
    ["/messages/count_tokens", { model: "tiny", messages: parts }, "messages"],
    ["/responses", { input: parts }, "input"],
    ["/responses", { input: outputs }, "input"],
    ["/jobs", { workload: "tiny", input: { messages: calls.slice(0, 400) } }, "input.messages"],
  ])("is refused by POST %s for their total number", async (path, body, field) => {
    expect(await refusal(path, body)).toEqual([422, field, message]);
  });

  it("is refused for the total number of tools in namespaces", async () => {
    const namespace = { type: "namespace", name: "crm", tools: filled(128, { type: "function", name: "lookup" }) };
    expect(await refusal("/responses", { input: "Hi", tools: [namespace, namespace] })).toEqual([
      422,
      "tools",
      "have 256 tools in namespaces; at most 128 are allowed",
    ]);
  });

  it("may have 128 functions, in namespaces and outside", async () => {
    completeWith(api, "Hello");
    const functions = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ type: "function", name: `f${index}` }));
    const ask = (outside: number) =>
      api.call("POST", "/responses", {
        body: {
          input: "Hi",
          tools: [{ type: "namespace", name: "crm", tools: functions(28) }, ...functions(outside)],
        },
      });
    expect((await ask(100)).status).toBe(200);
    const { status, body } = await ask(101);
    expect([status, body.error.param]).toEqual([422, "tools"]);
  });

  it("names at most 100 faults", async () => {
    const { body } = await api.call("POST", "/chat/completions", { body: { messages: parts.slice(0, 100) } });
    expect(body.error.details).toHaveLength(100);
    expect(body.error.param).toBe("messages.0.content.0.type");
  });

  it("is accepted up to the number of a long conversation", async () => {
    completeWith(api, "Hello");
    const text = { type: "text", text: "a" };
    const { status } = await api.call("POST", "/chat/completions", {
      body: { messages: filled(4_096, { role: "user", content: filled(4, text) }) },
    });
    expect(status).toBe(200);
  });
});
