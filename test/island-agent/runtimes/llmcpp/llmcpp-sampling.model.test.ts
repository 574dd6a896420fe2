import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { collect, makeCargo, makeRequest, makeRuntime, ModelFolder, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

const folder = new ModelFolder();
afterAll(() => folder[Symbol.dispose]());

describe("sampling of tiny-islander", () => {
  let llm: HostedCargo;
  beforeAll(async () => {
    llm = await makeRuntime().load(makeCargo(), TINY_ISLANDER, NEVER);
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  const story = (seed: number | null) =>
    makeRequest({ prompt: "Tell me a story.", temperature: 1, seed, max_tokens: 60 });

  it("run() returns the same text for the same seed", async () => {
    const [first, second] = [await collect(llm, story(7)), await collect(llm, story(7))];
    expect(second.text).toBe(first.text);
  });

  it("run() returns another text for another seed", async () => {
    expect((await collect(llm, story(8))).text).not.toBe((await collect(llm, story(7))).text);
  });

  it.each([{ top_k: 1 }, { min_p: 1 }])("run() returns the most probable text with %j", async (sampling) => {
    const likeliest = await collect(llm, makeRequest({ prompt: "Tell me a story.", max_tokens: 60 }));
    const { input } = story(9);
    expect((await collect(llm, makeRequest({ ...input, temperature: 2, ...sampling }))).text).toBe(likeliest.text);
  });

  it("run() applies a repeat_penalty", async () => {
    const input = { prompt: "Tell me a story.", max_tokens: 60, temperature: 0 };
    const plain = await collect(llm, makeRequest(input));
    expect((await collect(llm, makeRequest(input))).text).toBe(plain.text);
    expect((await collect(llm, makeRequest({ ...input, repeat_penalty: 2 }))).text).not.toBe(plain.text);
  });

  it("run() returns different texts for simultaneous jobs without a seed", async () => {
    const runs = await Promise.all([1, 2, 3].map(() => collect(llm, story(null))));
    expect(new Set(runs.map(({ text }) => text)).size).toBe(3);
  });
});

describe("sampling of a model that repeats one letter", () => {
  /** The token that ends completions comes after 256 bytes and "aa" in the vocabulary. */
  const EOS = 257;
  let llm: HostedCargo;
  beforeAll(async () => {
    llm = await makeRuntime().load(makeCargo(), folder.write("letters", { contextTokens: 256 }), NEVER);
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  it.each(["frequency_penalty", "presence_penalty"])("run() applies a %s", async (penalty) => {
    const run = await collect(llm, makeRequest({ prompt: "hi", [penalty]: 1, max_tokens: 20 }));
    expect(new Set(run.text)).toHaveLength(20);
  });

  it("run() never returns a token with the bias -100", async () => {
    const plain = await collect(llm, makeRequest({ prompt: "hi", max_tokens: 3 }));
    const [first = ""] = plain.text;
    const bias = Object.fromEntries(Array.from({ length: 200 }, (_, id) => [id, -100]));
    const other = await collect(llm, makeRequest({ prompt: "hi", max_tokens: 3, logit_bias: bias }));
    expect(other.text).not.toContain(first);
  });

  it.each([
    ["999999", /has \d+ tokens, so token 999999 is unknown/],
    [String(EOS), /ends the completion/],
  ])("run() refuses a bias of token %s", async (id, message) => {
    const running = collect(llm, makeRequest({ prompt: "hi", logit_bias: { [id]: 1 } }));
    await expect(running).rejects.toMatchObject({ code: "invalid_input", message: expect.stringMatching(message) });
  });
});
