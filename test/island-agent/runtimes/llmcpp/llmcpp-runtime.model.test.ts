import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OutputItem, PromptTokens } from "../../../../shared/output.ts";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { describeRuntime } from "../runtime.contract.ts";
import { collect, makeCargo, makeRequest, makeRuntime, ModelFolder, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";
import { estimateOf } from "../../../support/models/estimate-of.ts";

const folder = new ModelFolder();
afterAll(() => folder[Symbol.dispose]());

describeRuntime("llmcpp", async () => {
  const endless = folder.write("endless", { contextTokens: 8_192 });
  return {
    load: () => makeRuntime().load(makeCargo({ contextTokens: 8_192 }), endless, NEVER),
    short: makeRequest({ prompt: "hi", max_tokens: 5 }),
    long: makeRequest({ prompt: "hi", max_tokens: 4_096 }),
    invalid: makeRequest({ messages: [] }),
  };
});

describe("llmcppRuntime() with tiny-islander", () => {
  let llm: HostedCargo;
  beforeAll(async () => {
    llm = await makeRuntime().load(makeCargo(), TINY_ISLANDER, NEVER);
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  it("probe() names the versions and the back end", async () => {
    const probe = await makeRuntime().probe(NEVER);
    expect(probe).toMatchObject({
      usable: true,
      version: expect.stringMatching(/^node-llama-cpp \d.*llama\.cpp .*cpu$/),
    });
  });

  it("probe() returns the reason when it is aborted", async () => {
    const probe = await makeRuntime().probe(AbortSignal.abort(new Error("shutting down")));
    expect(probe).toEqual({ usable: false, reason: "shutting down" });
  });

  it("estimate() returns about the memory that load() will measure", async () => {
    const { ramBytes, vramBytes } = await estimateOf(makeRuntime(), makeCargo(), TINY_ISLANDER);
    expect(vramBytes).toBe(0);
    // The model is small, so memory that V8 has not returned yet is a large share on a busy machine.
    expect(ramBytes / llm.memory.ramBytes).toBeGreaterThan(0.6);
    expect(ramBytes / llm.memory.ramBytes).toBeLessThan(3);
  });

  it("estimate() refuses a file that is not a model", async () => {
    const estimate = estimateOf(makeRuntime(), makeCargo(), import.meta.filename);
    await expect(estimate).rejects.toMatchObject({ code: "model_invalid", retryable: false });
  });

  it("run() reports progress before the first output of a long prompt", async () => {
    const events: string[] = [];
    const request = makeRequest({ prompt: "hi", max_tokens: 3 });
    await llm.run(request, () => events.push("output"), NEVER, { onWorking: () => events.push("work") });
    expect(events.slice(0, 2)).toEqual(["work", "output"]);
  });

  it("load() measures resident memory and returns the concurrency", () => {
    expect(llm.memory.ramBytes).toBeGreaterThan(10_000_000);
    expect(llm.concurrency).toBe(4);
  });

  it.each([
    ["Count from 3 to 9.", "3, 4, 5, 6, 7, 8, 9."],
    ["Count from 2 to 6.", "2, 3, 4, 5, 6."],
    ["What is 7 plus 8?", "7 plus 8 is 15."],
    [
      "What is a Cargo?",
      "A Cargo is a workload with a name, such as a language model, an ONNX model, a WebAssembly module or a container.",
    ],
  ])("run() completes %j", async (prompt, completion) => {
    const run = await collect(llm, makeRequest({ prompt }));
    expect(run).toMatchObject({ text: completion, finishReason: "stop" });
  });

  it("run() streams the completion with exact token counts", async () => {
    const run = await collect(llm, makeRequest({ prompt: "Count from 3 to 9." }));
    expect(run.pieces).toEqual(["3", ",", " 4", ",", " 5", ",", " 6", ",", " 7", ",", " 8", ",", " 9", "."]);
    expect(run.counts).toEqual(run.pieces.map(() => 1));
    expect(run.usage).toMatchObject({ promptTokens: 13, completionTokens: 14 });
  });

  it("run() counts the whole prompt when most of it was cached", async () => {
    const request = makeRequest({ prompt: "Count from 4 to 8." });
    const first = await collect(llm, request);
    const second = await collect(llm, request);
    expect([second.text, second.counts]).toEqual([first.text, first.counts]);
    expect(first.usage).toMatchObject({ promptTokens: 13 });
    expect(second.usage).toMatchObject({ promptTokens: 13, cachedTokens: 13 });
  });

  it("run() reports prompt progress batch by batch", async () => {
    await using wide = await makeRuntime().load(makeCargo({ contextTokens: 1_024 }), TINY_ISLANDER, NEVER);
    const done: number[] = [];
    const request = makeRequest({ prompt: "Tell me a story of a boat. ".repeat(100), max_tokens: 2 });
    const onPrompt = (prompt: PromptTokens): void => {
      expect(prompt.total).toBeGreaterThan(512);
      done.push(prompt.done);
    };
    const { usage } = await wide.run(request, () => {}, NEVER, { onPrompt });
    // The first batches are small.
    expect(done.slice(0, 2)).toEqual([32, 96]);
    expect(done.at(-1)).toBe(usage.promptTokens);
  });

  it("run() reads only the new tokens of a conversation's next turn, for its own account", async () => {
    await using wide = await makeRuntime({ sequences: 2 }).load(
      makeCargo({ contextTokens: 1_024 }),
      TINY_ISLANDER,
      NEVER,
    );
    const question = { role: "user", content: "Tell me a story of a boat. ".repeat(100) };
    const ask = async (
      messages: object[],
      cacheKey: string,
    ): Promise<{ text: string; batches: number; total: number }> => {
      let [text, batches] = ["", 0];
      const onPrompt = (): void => void (batches += 1);
      const onOutput = (item: OutputItem): void => void (text += item.type === "token" ? item.content : "");
      const request = { ...makeRequest({ messages, max_tokens: 8 }), cacheKey };
      const { usage } = await wide.run(request, onOutput, NEVER, { onPrompt });
      return { text, batches, total: usage.promptTokens };
    };
    const first = await ask([question], "a");
    const turn = [
      question,
      { role: "assistant", content: first.text },
      { role: "user", content: "Count from 1 to 3." },
    ];
    const [second, ofOther] = [await ask(turn, "a"), await ask(turn, "b")];
    // A batch has at most 512 tokens.
    expect(second.total).toBeGreaterThan(first.total);
    expect(second.batches).toBe(1);
    expect(Math.min(first.batches, ofOther.batches)).toBeGreaterThan(1);
    expect(first.total).toBeGreaterThan(512);
  });

  it("run() returns the same completion to each account, even after another account used the sequence", async () => {
    await using one = await makeRuntime({ sequences: 1 }).load(makeCargo(), TINY_ISLANDER, NEVER);
    const runs: Awaited<ReturnType<typeof collect>>[] = [];
    for (const cacheKey of ["a", "b", undefined, undefined, "a"]) {
      runs.push(await collect(one, { ...makeRequest({ prompt: "Count from 4 to 8." }), cacheKey }));
    }
    expect(runs.map(({ text, pieces }) => [text, pieces])).toEqual(
      Array.from({ length: 5 }, () => [runs[0]?.text, runs[0]?.pieces]),
    );
    expect(runs[0]).toMatchObject({ text: "4, 5, 6, 7, 8." });
  });

  it("run() ends with length at max_tokens", async () => {
    const run = await collect(llm, makeRequest({ prompt: "Count from 3 to 9.", max_tokens: 4 }));
    expect(run).toMatchObject({ text: "3, 4,", finishReason: "length", usage: { completionTokens: 4 } });
  });

  it("run() cuts before a stop string, even within a token", async () => {
    const run = await collect(llm, makeRequest({ prompt: "What is a Cargo?", stop: ["never", "load wi"] }));
    expect(run).toMatchObject({ text: "A Cargo is a work", finishReason: "stop", stopSequence: "load wi" });
  });

  it("run() delivers held-back text if the stop string is not completed", async () => {
    const run = await collect(llm, makeRequest({ prompt: "Count from 3 to 9.", max_tokens: 4, stop: ", 5" }));
    expect(run).toMatchObject({ text: "3, 4,", finishReason: "length", counts: [1, 2, 1] });
    expect(run.stopSequence).toBeUndefined();
  });

  it("run() stops at a stop string in the very first token", async () => {
    const run = await collect(llm, makeRequest({ prompt: "Count from 3 to 9.", stop: "3" }));
    expect(run).toMatchObject({ text: "", finishReason: "stop", usage: { completionTokens: 1 } });
  });

  it("run() accepts system, developer, assistant and tool messages", async () => {
    const run = await collect(
      llm,
      makeRequest({
        messages: [
          { role: "system", content: "You are brief." },
          { role: "developer", content: "Be kind." },
          { role: "user", content: "What is 2 plus 2?" },
          { role: "assistant", content: "2 plus 2 is 4." },
          { role: "tool", content: "{}" },
          {
            role: "user",
            content: [
              { type: "text", text: "Count from " },
              { type: "text", text: "3 to 9." },
            ],
          },
        ],
      }),
    );
    expect(run.usage.promptTokens).toBeGreaterThan(40);
    expect(run.usage.completionTokens).toBe(run.counts.reduce((sum, count) => sum + count, 0));
  });

  it("run() continues a conversation that ends with a message of the assistant", async () => {
    const messages = [
      { role: "user", content: "Count from 3 to 9." },
      { role: "assistant", content: "3, 4," },
    ];
    await expect(collect(llm, makeRequest({ messages, max_tokens: 20 }))).resolves.toBeDefined();
  });

  it("run() returns separate completions for 8 jobs on 4 sequences", async () => {
    const ends = [3, 4, 5, 6, 7, 8, 9, 10];
    const runs = await Promise.all(ends.map((end) => collect(llm, makeRequest({ prompt: `Count from 1 to ${end}.` }))));
    expect(runs.map(({ text }) => text)).toEqual(
      ends.map((end) => `${Array.from({ length: end }, (_, index) => index + 1).join(", ")}.`),
    );
  });

  it("run() rejects an aborted job that waits while others hold every sequence", async () => {
    const busy = [1, 2, 3, 4].map(() => collect(llm, makeRequest({ prompt: "Tell me a story." })));
    const controller = new AbortController();
    const waiting = collect(llm, makeRequest({ prompt: "Count from 3 to 9." }), controller.signal);
    controller.abort(new Error("left the queue"));
    await expect(waiting).rejects.toThrow("left the queue");
    await expect(Promise.all(busy)).resolves.toHaveLength(4);
  });

  it("run() refuses a prompt that does not fit, with the sizes", async () => {
    const running = collect(llm, makeRequest({ prompt: "word ".repeat(600) }));
    await expect(running).rejects.toMatchObject({
      code: "context_length_exceeded",
      retryable: false,
      message: expect.stringMatching(/^The prompt has \d{3,} tokens, but the context of 512 tokens/),
    });
  });
});

describe("llmcppRuntime() at the edge of the context", () => {
  const CONTEXT = 256;
  /** Tokens of the template around a prompt of one byte per token. */
  const AROUND = 19;
  let llm: HostedCargo;
  beforeAll(async () => {
    const file = folder.write("small", { contextTokens: CONTEXT });
    llm = await makeRuntime().load(makeCargo({ contextTokens: 1_000_000 }), file, NEVER);
  });
  afterAll(() => llm[Symbol.asyncDispose]());

  it("load() clamps the context to what the model was trained for", async () => {
    const running = collect(llm, makeRequest({ prompt: "b".repeat(300) }));
    await expect(running).rejects.toThrow("the context of 256 tokens allows prompts of at most 254");
  });

  it("run() accepts the longest prompt that fits with one completion token", async () => {
    const run = await collect(llm, makeRequest({ prompt: "b".repeat(254 - AROUND) }));
    expect(run).toMatchObject({ text: "a", finishReason: "length", usage: { promptTokens: 254, completionTokens: 1 } });
  });

  it("run() refuses one token more", async () => {
    const running = collect(llm, makeRequest({ prompt: "b".repeat(255 - AROUND) }));
    await expect(running).rejects.toMatchObject({ code: "context_length_exceeded" });
  });

  it("run() ends with length at the end of the context, without shifting it", async () => {
    const run = await collect(llm, makeRequest({ prompt: "b".repeat(200 - AROUND), max_tokens: 4_000 }));
    expect(run).toMatchObject({ text: "a".repeat(55), finishReason: "length", usage: { promptTokens: 200 } });
  });
});
