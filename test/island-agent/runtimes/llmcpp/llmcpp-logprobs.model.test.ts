import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { makeCargo, makeRequest, makeRuntime, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

describe("the probabilities of tiny-islander's tokens", () => {
  let llm: HostedCargo;
  beforeAll(async () => {
    llm = await makeRuntime().load(makeCargo(), TINY_ISLANDER, NEVER);
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  async function run(input: Record<string, unknown>) {
    const items: OutputItem[] = [];
    const request = makeRequest({ prompt: "What is the tide?", max_tokens: 40, ...input });
    const result = await llm.run(request, (item) => items.push(item), NEVER);
    const tokens = items.flatMap((item) => (item.type === "token" ? [item] : []));
    const probabilities = tokens.flatMap(({ logprobs = [] }) => logprobs);
    return { ...result, tokens, probabilities, text: tokens.map(({ content }) => content).join("") };
  }
  const options = { logprobs: true, top_logprobs: 20 };

  it("are returned once per token, with the text of the completion", async () => {
    const { tokens, probabilities, text, usage } = await run(options);
    expect(probabilities.map(({ token }) => token).join("")).toBe(text);
    expect(probabilities).toHaveLength(usage.completionTokens);
    for (const { logprobs, count } of tokens) expect(logprobs).toHaveLength(count);
    const { text: plain, probabilities: none } = await run({});
    expect([plain, none]).toEqual([text, []]);
  });

  it("include the most probable tokens, best first, which greedy completions use", async () => {
    const { probabilities } = await run(options);
    expect(probabilities.length).toBeGreaterThan(5);
    for (const { token, logprob, top } of probabilities) {
      expect(top).toHaveLength(20);
      expect(top[0]).toEqual({ token, logprob });
      expect(top.map((each) => each.logprob)).toEqual(top.map((each) => each.logprob).toSorted((a, b) => b - a));
      const share = top.reduce((sum, each) => sum + Math.exp(each.logprob), 0);
      expect(share).toBeGreaterThan(0.2);
      expect(share).toBeLessThan(1.0001);
    }
  });

  it("are the model's own, before temperature, penalties and top_k", async () => {
    const prompt = { prompt: "Hello", max_tokens: 1 };
    const [first] = (await run({ ...prompt, ...options })).probabilities;
    const others = { temperature: 2, top_k: 1, repeat_penalty: 2, seed: 3 };
    const [second] = (await run({ ...prompt, ...options, ...others })).probabilities;
    const [alone] = (await run({ ...prompt, logprobs: true })).probabilities;
    expect(second?.top.map(({ token }) => token)).toEqual(first?.top.map(({ token }) => token));
    expect(second?.logprob).toBeCloseTo(first?.logprob ?? 0, 3);
    expect([alone?.token, alone?.top]).toEqual([first?.token, []]);
    expect(alone?.logprob).toBeCloseTo(first?.logprob ?? 0, 3);
  });

  it("report the low probability of a token chosen by a grammar", async () => {
    const schema = { type: "object", properties: { zebra: { const: "qqq" } }, required: ["zebra"] };
    const response_format = { type: "json_schema", json_schema: { name: "a", schema } };
    const { probabilities, text } = await run({ ...options, response_format, max_tokens: 60 });
    expect(JSON.parse(text)).toEqual({ zebra: "qqq" });
    expect(
      probabilities
        .map(({ token }) => token)
        .join("")
        .trim(),
    ).toBe(text.trim());
    expect(Math.min(...probabilities.map(({ logprob }) => logprob))).toBeLessThan(-5);
    const outside = probabilities.filter(({ token, top }) => top.every((each) => each.token !== token));
    expect(outside.length).toBeGreaterThan(0);
  });

  it("end at a stop sequence, and exclude tool calls", async () => {
    const { text } = await run({});
    const stop = text.slice(12, 16);
    const cut = await run({ ...options, stop });
    expect(cut.text).toBe(text.slice(0, text.indexOf(stop)));
    const tokens = cut.probabilities.map(({ token }) => token).join("");
    expect(tokens.startsWith(cut.text)).toBe(true);
    expect(tokens.length - cut.text.length).toBeLessThan(10);
    const tools = [{ type: "function", function: { name: "tide" } }];
    const withTools = await run({ ...options, tools, tool_choice: "auto" });
    expect(withTools.probabilities.map(({ token }) => token).join("")).toBe(withTools.text);
    expect((await run({ ...options, tools, tool_choice: "required" })).probabilities).toEqual([]);
  });

  it("are returned for concurrent completions", async () => {
    const prompts = ["Hello", "What is the tide?", "Who are you?", "Tell me of the reef"];
    const runs = await Promise.all(prompts.map((prompt) => run({ ...options, prompt })));
    for (const { probabilities, text } of runs) expect(probabilities.map(({ token }) => token).join("")).toBe(text);
  });
});
