import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toolCallsOf } from "../../../../coordinator/jobs/tool-calls.ts";
import type { LoadedCargo } from "../../../../island-agent/runtimes/runtime.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { makeCargo, makeRequest, makeRuntime, ModelFolder, NEVER } from "./llmcpp-support.ts";

/** The template makes tools part of the system message, like Qwen's template. */
const TEMPLATE =
  "{% if tools %}<|im_start|>system\n{% if messages[0].role == 'system' %}{{ messages[0].content }}\n{% endif %}" +
  "# Tools\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}Answer with <tool_call>\n<|im_end|>\n{% endif %}" +
  "{% for m in messages %}{% if not (tools and loop.first and m.role == 'system') %}" +
  "<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endif %}{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
const tide = { type: "function", function: { name: "get_tide", description: "Tells the tide" } };

describe("a Cargo whose template renders tools", () => {
  const folder = new ModelFolder();
  let llm: LoadedCargo;
  beforeAll(async () => {
    const file = folder.write("tools.gguf", { chatTemplate: TEMPLATE });
    llm = await makeRuntime().load(makeCargo({ tools: "template", contextTokens: 2_048 }), file, NEVER);
  });
  afterAll(async () => {
    await llm[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  async function run(input: Record<string, unknown>) {
    const items: OutputItem[] = [];
    const request = makeRequest({ prompt: "Tide?", max_tokens: 80, ...input });
    const result = await llm.run(request, (item) => items.push(item), NEVER);
    return { ...result, calls: toolCallsOf(items) };
  }

  it("renders its prompt only with that template", async () => {
    const plain = await run({});
    const withTools = await run({ tools: [tide] });
    // The vocabulary has a token for each byte, and one for each mark around a message.
    const json = { type: "function", function: { ...tide.function, parameters: { type: "object", properties: {} } } };
    const toolsLength = `system\n# Tools\n${JSON.stringify(json)}\nAnswer with <tool_call>\n\n`.length + 2;
    const added = withTools.usage.promptTokens - plain.usage.promptTokens;
    expect(added).toBeGreaterThanOrEqual(toolsLength);
    // The template writes spaces in JSON, and additionalProperties.
    expect(added).toBeLessThan(toolsLength + 60);
  });

  it("writes a required call in the format of its template", async () => {
    // The model samples the spaces between the parts of JSON.
    const { calls, finishReason } = await run({
      tools: [tide],
      tool_choice: "required",
      parallel_tool_calls: false,
      max_tokens: 300,
    });
    expect(calls.map((call) => call.function)).toEqual([{ name: "get_tide", arguments: expect.any(String) }]);
    expect([JSON.parse(calls[0]?.function.arguments ?? ""), finishReason]).toEqual([{}, "tool_calls"]);
  });

  it("is refused if its template does not render tools", async () => {
    const file = folder.write("no-tools.gguf", {});
    const load = makeRuntime().load(makeCargo({ tools: "template" }), file, NEVER);
    await expect(load).rejects.toMatchObject({ code: "model_invalid", message: expect.stringContaining("tools") });
  });
});
