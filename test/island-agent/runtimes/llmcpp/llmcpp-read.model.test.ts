import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { type ChatReading, chatReadingSchema, readPositionsOf } from "../../../../shared/chat-reading.ts";
import type { OutputItem, PromptTokens } from "../../../../shared/output.ts";
import { collect, makeCargo, makeRequest, makeRuntime, ModelFolder, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

const PROMPT = "Tell me a story about a turtle.";
const EVERYWHERE = Array.from({ length: 32 }, (_, index) => index / 32);

interface Read {
  readonly text: string;
  readonly has_end?: boolean;
  readonly at?: readonly number[];
}

async function read(llm: HostedCargo, { text, has_end = true, at = EVERYWHERE }: Read, input: object = {}) {
  const items: OutputItem[] = [];
  const prompts: PromptTokens[] = [];
  const request = makeRequest({ prompt: PROMPT, ...input, read: { text, has_end, at } });
  const result = await llm.run(request, (item) => items.push(item), NEVER, { onPrompt: (each) => prompts.push(each) });
  const output = chatReadingSchema.parse(result.output);
  return { ...result, output, items, prompts };
}

describe("a reading of an answer by tiny-islander", () => {
  let llm: HostedCargo;
  let answer: Awaited<ReturnType<typeof collect>>;
  beforeAll(async () => {
    llm = await makeRuntime({ sequences: 2 }).load(makeCargo(), TINY_ISLANDER, NEVER);
    answer = await collect(llm, makeRequest({ prompt: PROMPT, max_tokens: 200 }));
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  it("returns the probabilities of the tokens at the positions and of the last one, and writes nothing", async () => {
    const { output, items, prompts, usage, finishReason } = await read(llm, {
      text: answer.text,
      at: [0.5, 0, 0.25, 0],
    });
    const total = answer.usage.completionTokens + 1;
    expect(output).toMatchObject({ prompt_tokens: answer.usage.promptTokens, tokens: total });
    expect(output.positions.map(({ index }) => index)).toEqual(readPositionsOf({ at: [0, 0.25, 0.5] }, total));
    expect(output.positions).toHaveLength(4);
    expect([items, finishReason]).toEqual([[], "stop"]);
    const all = output.prompt_tokens + total;
    expect(usage).toEqual({ promptTokens: all, completionTokens: 0, cachedTokens: 0 });
    expect(prompts.at(-1)).toEqual({ total: all, done: all });
  });

  it("finds that an answer at temperature 0 has the most probable token everywhere, up to its end", async () => {
    const { output } = await read(llm, { text: answer.text });
    for (const { token, logprob, top } of output.positions) expect(top[0]).toEqual([token, logprob]);
  });

  it("returns the same log probabilities as the chat, to four decimals", async () => {
    const items: OutputItem[] = [];
    const chat = { prompt: PROMPT, max_tokens: 30, logprobs: true, top_logprobs: 5 };
    await llm.run(makeRequest(chat), (item) => items.push(item), NEVER);
    const tokens = items.flatMap((item) => (item.type === "token" ? [item] : []));
    const text = tokens.map(({ content }) => content).join("");
    const { output } = await read(llm, { text, has_end: false });
    const written = tokens.flatMap(({ logprobs = [] }) => logprobs);
    expect(output.tokens).toBe(30);
    for (const { index, logprob, top } of output.positions) {
      expect(logprob).toBeCloseTo(written[index]?.logprob ?? 1, 2);
      expect(top[0]?.[1]).toBeCloseTo(written[index]?.top[0]?.logprob ?? 1, 2);
      expect(logprob * 10_000).toBeCloseTo(Math.round(logprob * 10_000), 6);
    }
  });

  it("lists the most probable tokens, best first, whose probabilities sum to at most 1", async () => {
    const { output } = await read(llm, { text: "Kite 12 paper" }, { temperature: 2, top_k: 1, repeat_penalty: 2 });
    for (const { top, token, logprob } of output.positions) {
      const logprobs = top.map(([, each]) => each);
      expect(logprobs).toEqual(logprobs.toSorted((a, b) => b - a));
      expect(logprobs.reduce((sum, each) => sum + Math.exp(each), 0)).toBeLessThan(1.001);
      const listed = top.find(([each]) => each === token);
      if (listed !== undefined) expect(listed[1]).toBe(logprob);
      else expect(logprob).toBeLessThanOrEqual(logprobs.at(-1) ?? 0);
    }
  });

  it("reads the end of an empty answer", async () => {
    const { output } = await read(llm, { text: "" });
    expect(output).toMatchObject({ tokens: 1, positions: [{ index: 0 }] });
    expect(output.positions[0]?.logprob).toBeLessThan(-5);
  });

  it("does not change concurrent chats, which keep their caches", async () => {
    const chat = makeRequest({ prompt: "Tell me a story about a boat.", temperature: 0.8, seed: 7, max_tokens: 120 });
    const alone = await collect(llm, chat);
    // Results that go to another sequence appear only in some rounds.
    for (let round = 0; round < 10; round += 1) {
      const [beside, ...readings] = await Promise.all([
        collect(llm, chat),
        ...Array.from({ length: 4 }, () => read(llm, { text: answer.text })),
      ]);
      expect(beside.text).toBe(alone.text);
      for (const { output } of readings) expect(deviation(output, readings[0]?.output)).toBeLessThan(0.05);
    }
    const messages = [
      { role: "user", content: "Tell me a story about a boat." },
      { role: "assistant", content: alone.text },
      { role: "user", content: "More" },
    ];
    const next = await collect(llm, makeRequest({ messages, max_tokens: 1 }));
    expect(next.usage.cachedTokens).toBeGreaterThan(alone.usage.promptTokens);
  });

  it("uses no cache, and leaves none", async () => {
    const { output } = await read(llm, { text: answer.text });
    const { usage } = await collect(llm, { ...makeRequest({ prompt: "Who are you?", max_tokens: 2 }), cacheKey: "b" });
    expect(usage.cachedTokens).toBe(0);
    const again = await read(llm, { text: answer.text });
    expect(again.usage.cachedTokens).toBe(0);
    expect(again.output).toEqual(output);
  });

  it("fails if prompt and answer do not fit the context", async () => {
    const text = "The reef is blue. ".repeat(200);
    await expect(read(llm, { text })).rejects.toMatchObject({
      code: "context_length_exceeded",
      message: expect.stringMatching(
        /^The prompt and the answer have \d{3,} tokens, but the context has 512$/,
      ) as string,
    });
  });

  it("reads an answer that fills the context, and no longer one", async () => {
    const { output } = await read(llm, { text: " tide", has_end: false });
    const free = 512 - output.prompt_tokens;
    const full = await read(llm, { text: " tide".repeat(free), has_end: false });
    expect(full.output).toMatchObject({ tokens: free });
    await expect(read(llm, { text: " tide".repeat(free) })).rejects.toMatchObject({ code: "context_length_exceeded" });
  });

  it.each([
    ["a position outside the answer", { text: "a", has_end: true, at: [1] }, /^read\.at\.0: /],
    ["too many positions", { text: "a", has_end: true, at: Array(33).fill(0) }, /^read\.at: /],
    ["no position", { text: "a", has_end: true, at: [] }, /^read\.at: /],
    ["no token", { text: "", has_end: false, at: [0] }, /^read: contains no token/],
    ["a long text", { text: "a".repeat(600_000), has_end: true, at: [0] }, /^read\.text: /],
    ["an unknown member", { text: "a", has_end: true, at: [0], more: 1 }, /^read: /],
  ])("refuses %s", async (_, wrong, message) => {
    const run = llm.run(makeRequest({ prompt: PROMPT, read: wrong }), () => {}, NEVER);
    await expect(run).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(message) as string,
    });
  });
});

describe("a reading that is cancelled", () => {
  it("ends between two batches, and the model stays usable", async () => {
    using folder = new ModelFolder();
    const file = folder.write("slow.gguf", { contextTokens: 4_096, width: 512, layers: 2 });
    await using llm = await makeRuntime({ sequences: 1 }).load(makeCargo({ contextTokens: 4_096 }), file, NEVER);
    const abort = new AbortController();
    const reading = llm.run(
      makeRequest({ prompt: "hello", read: { text: "b".repeat(3_500), has_end: true, at: EVERYWHERE } }),
      () => {},
      abort.signal,
      { onPrompt: () => abort.abort(new Error("cancelled")) },
    );
    await expect(reading).rejects.toThrow("cancelled");
    const { output } = await read(llm, { text: "b", at: [0] }, { prompt: "hello" });
    expect(output.tokens).toBe(2);
  });
});

/** Returns the largest difference of log probabilities. Batches of other sizes round differently. */
function deviation(reading: ChatReading, other: ChatReading | undefined): number {
  expect(reading.positions.map(({ index, token }) => [index, token])).toEqual(
    other?.positions.map(({ index, token }) => [index, token]),
  );
  return Math.max(
    ...reading.positions.map(({ logprob }, at) => Math.abs(logprob - (other?.positions[at]?.logprob ?? 0))),
  );
}
