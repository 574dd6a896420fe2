import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LoadedCargo } from "../../../../island-agent/runtimes/runtime.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { makeCargo, makeRequest, makeRuntime, ModelFolder, NEVER } from "./llmcpp-support.ts";

/** This is more than the tokens of the smallest budget. */
const REASONING = Array.from({ length: 140 }, (_, index) => ` so${index}`);
const COMPLETION = ["The", " tide", " is", " low."];
const SAYS = ["<think>", ...REASONING, "</think>", ...COMPLETION];
/** The prompt starts the reasoning, as in templates of DeepSeek's models. */
const OPENED =
  "Chat\n{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n<think>{% endif %}";

describe.each([
  ["whose template does not mention it", undefined],
  ["whose prompt begins it", OPENED],
])("a model with reasoning, %s", (_, chatTemplate) => {
  const folder = new ModelFolder();
  let llm: LoadedCargo;
  beforeAll(async () => {
    const file = folder.write("thinks.gguf", { says: SAYS, width: 256, ...(chatTemplate && { chatTemplate }) });
    // Truncated reasoning is tokenized again, which here means byte by byte.
    llm = await makeRuntime().load(makeCargo({ reasoning: true, contextTokens: 2_048 }), file, NEVER);
  });
  afterAll(async () => {
    await llm[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  async function run(input: Record<string, unknown> = {}) {
    const items: OutputItem[] = [];
    const request = makeRequest({ prompt: "Tide?", max_tokens: 200, ...input });
    const { usage, finishReason } = await llm.run(request, (item) => items.push(item), NEVER);
    const of = (type: "token" | "reasoning") => {
      const pieces = items.flatMap((item) => (item.type === type ? [item] : []));
      return {
        text: pieces.map(({ content }) => content).join(""),
        tokens: pieces.reduce((sum, { count }) => sum + count, 0),
      };
    };
    const [completion, reasoning] = [of("token"), of("reasoning")];
    return { items, completion, reasoning, usage, finishReason };
  }

  it("separates reasoning from its completion, with their tokens", async () => {
    const { completion, reasoning, usage, finishReason } = await run();
    expect([reasoning.text.trim(), completion.text, finishReason]).toEqual([
      REASONING.join("").trim(),
      COMPLETION.join(""),
      "stop",
    ]);
    expect([reasoning.tokens, completion.tokens]).toEqual([REASONING.length, COMPLETION.length]);
    expect(usage.completionTokens).toBe(REASONING.length + COMPLETION.length);
  });

  it("reasons as long as its effort allows, and then responds", async () => {
    const { completion, reasoning } = await run({ reasoning_effort: "minimal" });
    expect(reasoning.tokens).toBe(128);
    expect(completion.text).toBe(COMPLETION.join(""));
    const withoutReasoning = await run({ reasoning_effort: "none" });
    expect([withoutReasoning.reasoning.text, withoutReasoning.completion.text]).toEqual(["", COMPLETION.join("")]);
    expect((await run({ reasoning_effort: "high" })).reasoning.tokens).toBe(REASONING.length);
  });

  it("returns only reasoning if it is cut off in it", async () => {
    const { completion, reasoning, finishReason } = await run({ max_tokens: 20 });
    expect([completion.text, finishReason]).toEqual(["", "length"]);
    expect(reasoning.tokens).toBeGreaterThan(15);
  });

  it("returns probabilities only for its completion", async () => {
    const { items, completion } = await run({ logprobs: true });
    const pieces = items.flatMap((item) => (item.type === "token" ? (item.logprobs ?? []) : []));
    expect(pieces.map(({ token }) => token).join("")).toBe(completion.text);
  });

  it("does not reason with a grammar", async () => {
    const schema = { type: "object", properties: { low: { type: "boolean" } }, required: ["low"] };
    const response_format = { type: "json_schema", json_schema: { name: "tide", schema } };
    const { completion, reasoning } = await run({ response_format });
    expect([Object.keys(JSON.parse(completion.text) as object), reasoning.text]).toEqual([["low"], ""]);
  });

  it("cannot resume a completion of another Island", async () => {
    const resume = { text: "The", tokens: 1 };
    const run = llm.run(makeRequest({ prompt: "Tide?" }, resume), () => {}, NEVER);
    await expect(run).rejects.toMatchObject({ code: "cannot_resume" });
  });
});
