import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { collect, makeCargo, makeRequest, makeRuntime, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

describe("a raw prompt", () => {
  let llm: HostedCargo;
  beforeAll(async () => {
    llm = await makeRuntime().load(makeCargo(), TINY_ISLANDER, NEVER);
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  const run = (input: object) => collect(llm, makeRequest({ temperature: 0, max_tokens: 12, ...input }));

  it("is continued without the template, which costs tokens and changes the completion", async () => {
    const prompt = "Tell me a story.";
    const [raw, chat] = [await run({ prompt, raw: true }), await run({ prompt })];
    expect(raw.usage.promptTokens).toBeLessThan(chat.usage.promptTokens);
    expect(raw.text).not.toBe(chat.text);
  });

  it("is resumed after another Island", async () => {
    const request = { prompt: "The island", raw: true };
    const whole = await run(request);
    const [first = "", second = ""] = whole.pieces;
    const resume = { text: first + second, tokens: 2 };
    const rest = await collect(llm, { ...makeRequest({ temperature: 0, max_tokens: 12, ...request }), resume });
    expect(resume.text + rest.text).toBe(whole.text);
  });
});
