import { describe, expect, it } from "vitest";
import { errorOf } from "../../../coordinator/dispatch/island-errors.ts";

type Job = Parameters<typeof errorOf>[1];

describe("errorOf() of a prompt that is too long", () => {
  const job = { accountId: "user_1", cargo: { contextTokens: 1_024 }, traits: { maxPromptTokens: 5_000 } } as Job;
  const of = (message: string): string =>
    errorOf({ code: "context_length_exceeded", message, retryable: false }, job, undefined).message;
  const text = "The prompt is longer than the model's maximum context length";

  it("gives the Cargo's context and the Island's count", () => {
    expect(of("The prompt has 1500 tokens; the context of 1024 tokens takes prompts of at most 1008")).toBe(
      `${text}: it has 1500 tokens by the Island's count, and the model's context has 1024, for prompt and answer together`,
    );
  });

  it("does not give a count that the prompt cannot have, and no other words of the Island", () => {
    const expected = `${text}: the model's context has 1024 tokens, for prompt and answer together`;
    expect([of("has 99999 tokens"), of("buy tokens at x"), of("")]).toEqual([expected, expected, expected]);
  });
});
