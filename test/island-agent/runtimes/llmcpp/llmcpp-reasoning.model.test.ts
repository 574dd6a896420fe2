import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LoadedCargo } from "../../../../island-agent/runtimes/runtime.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { makeCargo, makeRequest, makeRuntime, ModelFolder, NEVER } from "./llmcpp-support.ts";

/** More tokens than the smallest budget has. */
const THOUGHT = Array.from({ length: 140 }, (_, index) => ` so${index}`);
const ANSWER = ["The", " tide", " is", " low."];
const SAYS = ["<think>", ...THOUGHT, "</think>", ...ANSWER];
/** The prompt opens the thought, as in templates of DeepSeek's models. */
const OPENED =
  "Chat\n{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n<think>{% endif %}";

describe.each([
  ["whose template has no word of thoughts", undefined],
  ["whose prompt opens its thoughts", OPENED],
])("a model with reasoning, %s", (_, chatTemplate) => {
  const folder = new ModelFolder();
  let llm: LoadedCargo;
  beforeAll(async () => {
    const file = folder.write("thinks.gguf", { says: SAYS, width: 256, ...(chatTemplate && { chatTemplate }) });
    // Thoughts that are cut are read anew, here byte by byte.
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
      const told = items.flatMap((item) => (item.type === type ? [item] : []));
      return {
        text: told.map(({ content }) => content).join(""),
        tokens: told.reduce((sum, { count }) => sum + count, 0),
      };
    };
    const [answer, thought] = [of("token"), of("reasoning")];
    return { items, answer, thought, usage, finishReason };
  }

  it("separates reasoning from its completion, with their tokens", async () => {
    const { answer, thought, usage, finishReason } = await run();
    expect([thought.text.trim(), answer.text, finishReason]).toEqual([
      THOUGHT.join("").trim(),
      ANSWER.join(""),
      "stop",
    ]);
    expect([thought.tokens, answer.tokens]).toEqual([THOUGHT.length, ANSWER.length]);
    expect(usage.completionTokens).toBe(THOUGHT.length + ANSWER.length);
  });

  it("reasons as long as its effort allows, and then responds", async () => {
    const { answer, thought } = await run({ reasoning_effort: "minimal" });
    expect(thought.tokens).toBe(128);
    expect(answer.text).toBe(ANSWER.join(""));
    const unthinking = await run({ reasoning_effort: "none" });
    expect([unthinking.thought.text, unthinking.answer.text]).toEqual(["", ANSWER.join("")]);
    expect((await run({ reasoning_effort: "high" })).thought.tokens).toBe(THOUGHT.length);
  });

  it("returns only reasoning if it is cut off in it", async () => {
    const { answer, thought, finishReason } = await run({ max_tokens: 20 });
    expect([answer.text, finishReason]).toEqual(["", "length"]);
    expect(thought.tokens).toBeGreaterThan(15);
  });

  it("returns probabilities only for its completion", async () => {
    const { items, answer } = await run({ logprobs: true });
    const told = items.flatMap((item) => (item.type === "token" ? (item.logprobs ?? []) : []));
    expect(told.map(({ token }) => token).join("")).toBe(answer.text);
  });

  it("does not reason with a grammar", async () => {
    const schema = { type: "object", properties: { low: { type: "boolean" } }, required: ["low"] };
    const response_format = { type: "json_schema", json_schema: { name: "tide", schema } };
    const { answer, thought } = await run({ response_format });
    expect([Object.keys(JSON.parse(answer.text) as object), thought.text]).toEqual([["low"], ""]);
  });

  it("cannot resume a completion of another Island", async () => {
    const resume = { text: "The", tokens: 1 };
    const run = llm.run(makeRequest({ prompt: "Tide?" }, resume), () => {}, NEVER);
    await expect(run).rejects.toMatchObject({ code: "cannot_resume" });
  });
});
