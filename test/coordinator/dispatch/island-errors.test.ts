import { describe, expect, it } from "vitest";
import { errorOf } from "../../../coordinator/dispatch/island-errors.ts";

type Job = Parameters<typeof errorOf>[1];

describe("errorOf() for a prompt that is too long", () => {
  const job = { accountId: "user_1", cargo: { contextTokens: 1_024 }, traits: { maxPromptTokens: 5_000 } } as Job;
  const of = (message: string): string =>
    errorOf({ code: "context_length_exceeded", message, retryable: false }, job, undefined).message;
  const text = "The prompt is too long";
  const limit = "The model's maximum context length is 1024 tokens, for prompt and completion together";

  it("includes the Cargo's context and the Island's numbers", () => {
    const message = of("The prompt has 1500 tokens, but the context of 1024 tokens allows prompts of at most 1008");
    expect(message).toBe(`${text}: 1500 tokens > 1008 maximum. ${limit}`);
  });

  it.each([
    ["Claude Code", /prompt is too long[^0-9]*(1500)\s*tokens?\s*>\s*(1008)/i],
    ["LangChain with Anthropic", /prompt is too long/],
    ["LangChain with OpenAI", /maximum context length/],
    ["pi and Qwen Code", /maximum context length is 1024 tokens/i],
  ])("matches the pattern of %s", (_, pattern) => {
    expect(of("text_1: has 1500 tokens, but the model accepts at most 1008")).toMatch(pattern);
  });

  it.each([
    "has 99999 tokens; at most 1008",
    "has 1500 tokens; at most 1025",
    "has 1000 tokens; at most 1008",
    "has 1500 tokens; at most 0",
    "has 1500 tokens",
    "buy tokens at x",
    "",
  ])("does not quote %j, which is implausible or has no numbers", (words) => {
    expect(of(words)).toBe(`${text}. ${limit}`);
  });
});
