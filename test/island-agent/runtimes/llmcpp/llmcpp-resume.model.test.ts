import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import {
  collect,
  type Collected,
  makeCargo,
  makeRequest,
  makeRuntime,
  ModelFolder,
  NEVER,
  TINY_ISLANDER,
} from "./llmcpp-support.ts";

describe("resume", () => {
  let llm: HostedCargo;
  beforeAll(async () => {
    llm = await makeRuntime().load(makeCargo(), TINY_ISLANDER, NEVER);
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  /** Returns the text that had been delivered when the Island of a run was lost after `pieces` pieces. */
  const cut = (run: Collected, pieces: number) => ({
    text: run.pieces.slice(0, pieces).join(""),
    tokens: run.counts.slice(0, pieces).reduce((sum, count) => sum + count, 0),
  });

  it.each([
    { prompt: "Count from 3 to 9." },
    { prompt: "Tell me a story." },
    { prompt: "What is a Cargo?" },
    { prompt: "Give me a JSON object for a boat." },
    { prompt: "Tell me a story about a boat.", max_tokens: 30 },
    { prompt: "Tell me a story.", stop: ["morning, then", " the sky"] },
    { prompt: "Count from 1 to 9.", presence_penalty: 0.5, frequency_penalty: 0.3 },
  ])("$prompt continues to the same text and usage from every cut", async (input) => {
    const whole = await collect(llm, makeRequest(input));
    const wrong: unknown[] = [];
    for (let pieces = 1; pieces <= whole.pieces.length; pieces++) {
      const resume = cut(whole, pieces);
      const rest = await collect(llm, makeRequest(input, resume));
      const isSame =
        resume.text + rest.text === whole.text &&
        rest.usage.completionTokens === whole.usage.completionTokens &&
        rest.usage.promptTokens === whole.usage.promptTokens &&
        rest.finishReason === whole.finishReason;
      if (!isSame) wrong.push({ before: resume, after: rest.text, usage: rest.usage, reason: rest.finishReason });
    }
    expect(wrong).toEqual([]);
    expect(whole.pieces.length).toBeGreaterThan(5);
  });

  it("ends immediately with length when no tokens are left of max_tokens", async () => {
    const request = makeRequest({ prompt: "Count from 3 to 9.", max_tokens: 4 }, { text: "3, 4,", tokens: 4 });
    const usage = { promptTokens: 13, completionTokens: 4 };
    expect(await collect(llm, request)).toMatchObject({ text: "", finishReason: "length", usage });
  });

  it("starts from the beginning when no text was delivered", async () => {
    const run = await collect(llm, makeRequest({ prompt: "Count from 3 to 9." }, { text: "", tokens: 0 }));
    expect(run.text).toBe("3, 4, 5, 6, 7, 8, 9.");
  });

  it("refuses a completion with a response format", async () => {
    const input = { prompt: "Give me a JSON object for a boat.", response_format: { type: "json_object" } };
    const running = collect(llm, makeRequest(input, { text: '{"kind"', tokens: 2 }));
    await expect(running).rejects.toMatchObject({ code: "cannot_resume", retryable: false });
  });
});

describe("resume with penalties", () => {
  it("counts the tokens of the text so far", async () => {
    using folder = new ModelFolder();
    await using llm = await makeRuntime().load(makeCargo(), folder.write("zero", {}), NEVER);
    const input = { prompt: "hi", frequency_penalty: 1, max_tokens: 20 };
    const whole = await collect(llm, makeRequest(input));
    const resume = { text: whole.pieces.slice(0, 12).join(""), tokens: 12 };
    const rest = await collect(llm, makeRequest(input, resume));
    expect(resume.text + rest.text).toBe(whole.text);
  });
});
