import { afterAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import type { RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import type { OutputItem } from "../../../../shared/output.ts";
import { TEXT_TASK_OUTPUTS, type TextTask } from "../../../../shared/text-task.ts";
import { makeTinyTextGguf } from "../../../support/models/tiny-text-gguf.ts";
import { estimateOf } from "../../../support/models/estimate-of.ts";
import { makeCargo, makeRuntime, ModelFolder, NEVER, TINY_ISLANDER } from "./llmcpp-support.ts";

const folder = new ModelFolder();
afterAll(() => folder[Symbol.dispose]());
const EMBEDDER = folder.write("embedder.gguf", makeTinyTextGguf());
const RANKER = folder.write("ranker.gguf", makeTinyTextGguf({ pooling: "rank" }));

const load = (task: TextTask, file: string): Promise<HostedCargo> =>
  makeRuntime().load(makeCargo({ task, contextTokens: 64 }), file, NEVER);
const run = (cargo: HostedCargo, input: object, items: OutputItem[] = [], signal = NEVER): Promise<RunResult> =>
  cargo.run({ input: { ...input }, resume: null }, (item) => items.push(item), signal);

async function embed(cargo: HostedCargo, input: object): Promise<number[][]> {
  const { output } = await run(cargo, input);
  return TEXT_TASK_OUTPUTS["feature-extraction"].parse(output).embeddings;
}
async function rank(cargo: HostedCargo, query: string, documents: string[]): Promise<number[]> {
  const { output } = await run(cargo, { query, documents });
  return TEXT_TASK_OUTPUTS["text-ranking"].parse(output).scores;
}

describe("an embedding model", () => {
  it("returns a vector of length 1 for each text, independent of the other texts", async () => {
    await using cargo = await load("feature-extraction", EMBEDDER);
    const [cat, dog, again] = await embed(cargo, { input: ["the cat sleeps", "the dog barks", "the cat sleeps"] });
    expect(cat).toHaveLength(32);
    expect(Math.hypot(...(cat ?? []))).toBeCloseTo(1, 5);
    expect(again).toEqual(cat);
    expect(dog).not.toEqual(cat);
    expect(await embed(cargo, { input: "the cat sleeps" })).toEqual([cat]);
    const [raw] = await embed(cargo, { input: "the cat sleeps", normalize: false });
    const length = Math.hypot(...(raw ?? []));
    expect(length).not.toBeCloseTo(1, 2);
    expect(raw?.map((value) => value / length)).toEqual(cat);
  });

  it("counts tokens, special ones included, and reports its progress", async () => {
    await using cargo = await load("feature-extraction", EMBEDDER);
    const items: OutputItem[] = [];
    const { usage, finishReason } = await run(cargo, { input: ["the cat sleeps", "island"] }, items);
    expect({ usage, finishReason }).toEqual({
      usage: { promptTokens: 8, completionTokens: 0 },
      finishReason: "stop",
    });
    expect(items).toEqual([1, 2].map((step) => ({ type: "progress", step, total: 2 })));
  });

  it("refuses a text that is longer than its context before it reads any", async () => {
    await using cargo = await load("feature-extraction", EMBEDDER);
    const items: OutputItem[] = [];
    await expect(run(cargo, { input: ["sea", "sea ".repeat(62)] }, items)).rejects.toMatchObject({
      code: "context_length_exceeded",
      message: "input.1: has 64 tokens, but the model accepts at most 63",
    });
    expect(items).toEqual([]);
    await expect(run(cargo, { input: "sea ".repeat(61) })).resolves.toBeDefined();
  });

  it("refuses input that is not a text or a list of texts", async () => {
    await using cargo = await load("feature-extraction", EMBEDDER);
    for (const input of [{}, { input: [] }, { input: "" }, { input: ["a", ""] }, { messages: [] }]) {
      await expect(run(cargo, input)).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringMatching(/^input/),
      });
    }
  });

  it("stops between two texts when it is aborted, and its process serves the next job", async () => {
    await using cargo = await load("feature-extraction", EMBEDDER);
    const stop = new AbortController();
    const items: OutputItem[] = [];
    const running = cargo.run(
      { input: { input: Array.from({ length: 2_000 }, () => "the cat sleeps today") }, resume: null },
      (item) => {
        items.push(item);
        stop.abort(new Error("enough"));
      },
      stop.signal,
    );
    await expect(running).rejects.toThrow("enough");
    expect(items).toHaveLength(1);
    await expect(embed(cargo, { input: "sea" })).resolves.toHaveLength(1);
  });

  it("is estimated at no less than its memory use", async () => {
    const manifest = makeCargo({ task: "feature-extraction", contextTokens: 64 });
    const { ramBytes } = await estimateOf(makeRuntime(), manifest, EMBEDDER);
    await using cargo = await load("feature-extraction", EMBEDDER);
    await embed(cargo, { input: ["the cat sleeps", "island"] });
    expect(cargo.memory.ramBytes).toBeLessThan(ramBytes);
  });
});

describe("a ranking model", () => {
  it("scores each document from 0 to 1, in order, independent of the others", async () => {
    await using cargo = await load("text-ranking", RANKER);
    const documents = ["the cat sleeps", "the dog barks", "stocks fell today"];
    const scores = await rank(cargo, "the cat", documents);
    expect(new Set(scores).size).toBe(3);
    const backwards = await rank(cargo, "the cat", documents.toReversed());
    expect(backwards).toEqual(scores.toReversed());
    expect(await rank(cargo, "the dog", documents)).not.toEqual(scores);
    const { usage } = await run(cargo, { query: "the cat", documents });
    expect(usage.promptTokens).toBeGreaterThanOrEqual(3 * 5);
  });

  it("refuses a pair that is longer than its context", async () => {
    await using cargo = await load("text-ranking", RANKER);
    await expect(run(cargo, { query: "sea", documents: ["sea", "sea ".repeat(70)] })).rejects.toMatchObject({
      code: "context_length_exceeded",
      message: expect.stringMatching(/^documents\.1 \(with the query\): has \d+ tokens/),
    });
  });
});

describe("a model for another task", () => {
  it.each([
    ["text-ranking", EMBEDDER],
    ["text-ranking", TINY_ISLANDER],
  ] as const)("is refused for %s as not retryable", async (task, file) => {
    await expect(load(task, file)).rejects.toMatchObject({ code: "model_invalid", retryable: false });
  });

  it("is refused for a task of a later version as retryable", async () => {
    const cargo = makeCargo({ task: "poetry" });
    await expect(makeRuntime().load(cargo, EMBEDDER, NEVER)).rejects.toMatchObject({
      code: "runtime_unavailable",
      message: "This Island does not support the task poetry",
      retryable: true,
    });
  });
});
