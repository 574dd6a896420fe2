import { describe, expect, it } from "vitest";
import type { RunResult } from "../../../../island-agent/runtimes/runtime.ts";
import { EngineReplay, type RecordedEngine } from "../../../support/servers/engine-replay.ts";
import { NEVER } from "../../builders.ts";
import { EngineWorld } from "./engine-world.ts";

/** Runs a task on an engine whose responses `change` has changed. */
async function run(
  engine: RecordedEngine,
  task: string,
  input: Record<string, unknown>,
  change: (responses: Record<string, unknown>) => void = () => undefined,
): Promise<RunResult & { readonly posted: number; readonly working: number }> {
  await using replay = await EngineReplay.open(engine);
  change(replay.responses);
  await using world = await EngineWorld.open(replay.url);
  let working = 0;
  const watcher = { onWorking: () => void (working += 1) };
  const result = await world.load({ task }).run({ input, resume: null }, () => undefined, NEVER, watcher);
  return { ...result, posted: replay.posted.filter(({ path }) => path.startsWith("/v1/")).length, working };
}

const embed = (embeddings: readonly unknown[], indexes = embeddings.map((_, index) => index)) => {
  return (responses: Record<string, unknown>): void => {
    const data = embeddings.map((embedding, place) => ({ object: "embedding", embedding, index: indexes[place] }));
    responses["POST /v1/embeddings"] = { object: "list", data, usage: { prompt_tokens: 4 } };
  };
};
const EMBED = "feature-extraction";
const RANK = "text-ranking";

describe("embeddings of an engine", () => {
  it.each<RecordedEngine>(["llama-server", "lm-studio", "local-ai", "ollama", "sglang", "vllm"])(
    "come from %s",
    async (engine) => {
      const { output, usage } = await run(engine, EMBED, { input: "Hi" });
      expect(output).toEqual({ embeddings: [[0.6, 0.8]] });
      expect(usage).toEqual({ promptTokens: 4, completionTokens: 0 });
    },
  );

  it("are not normalized on request", async () => {
    expect((await run("vllm", EMBED, { input: ["Hi"], normalize: false })).output).toEqual({ embeddings: [[3, 4]] });
  });

  it("are in the order of the texts", async () => {
    const change = embed(
      [
        [2, 0],
        [0, 2],
      ],
      [1, 0],
    );
    expect((await run("vllm", EMBED, { input: ["a", "b"] }, change)).output).toEqual({
      embeddings: [
        [0, 1],
        [1, 0],
      ],
    });
  });

  it("may be in base64, although numbers were requested", async () => {
    const base64 = Buffer.from(Float32Array.of(3, 4).buffer).toString("base64");
    expect((await run("vllm", EMBED, { input: "Hi" }, embed([base64]))).output).toEqual({ embeddings: [[0.6, 0.8]] });
  });

  it("are requested for 32 texts at a time, with progress after each request", async () => {
    const change = embed(Array.from({ length: 32 }, () => [1, 0]));
    const { output, posted, working, usage } = await run("vllm", EMBED, { input: Array(64).fill("a") }, change);
    expect([posted, working, usage.promptTokens]).toEqual([2, 2, 8]);
    expect((output as { embeddings: unknown[] }).embeddings).toHaveLength(64);
  });

  it.each([
    ["fewer than texts", embed([[1, 0]])],
    [
      "two with the same index",
      embed(
        [
          [1, 0],
          [0, 1],
        ],
        [0, 0],
      ),
    ],
    ["different lengths", embed([[1, 0], [1]])],
    [
      "null instead of a number",
      embed([
        [1, null],
        [1, 0],
      ]),
    ],
    ["base64 without numbers", embed([Buffer.from(Float32Array.of(NaN, 1).buffer).toString("base64"), [1, 0]])],
    ["another form", (responses: Record<string, unknown>) => void (responses["POST /v1/embeddings"] = { data: 5 })],
  ])("are a failure of the engine with %s", async (_, change) => {
    const failed = run("vllm", EMBED, { input: ["a", "b"] }, change);
    await expect(failed).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
  });
});

describe("scores of an engine", () => {
  it("are probabilities in the order of the documents", async () => {
    expect((await run("vllm", RANK, { query: "q", documents: ["a", "b"] })).output).toEqual({ scores: [0.25, 0.75] });
  });

  it("are made from llama-server's logits", async () => {
    const { output } = await run("llama-server", RANK, { query: "q", documents: ["a", "b"] });
    const [first, second] = (output as { scores: number[] }).scores;
    expect([first, second]).toEqual([expect.closeTo(0.182, 2), expect.closeTo(0.818, 2)]);
  });

  it.each([
    [
      "above 1",
      [
        { index: 0, relevance_score: 2 },
        { index: 1, relevance_score: 0 },
      ],
    ],
    [
      "that are null",
      [
        { index: 0, relevance_score: null },
        { index: 1, relevance_score: 0 },
      ],
    ],
    ["for some documents only", [{ index: 1, relevance_score: 0 }]],
  ])("%s are a failure of the engine", async (_, results) => {
    const change = (responses: Record<string, unknown>): void => void (responses["POST /v1/rerank"] = { results });
    const failed = run("vllm", RANK, { query: "q", documents: ["a", "b"] }, change);
    await expect(failed).rejects.toMatchObject({ code: "runtime_unavailable", retryable: true });
  });

  it("do not come from an engine without reranking", async () => {
    await expect(run("ollama", RANK, { query: "q", documents: ["a"] })).rejects.toThrow("no endpoint for reranking");
  });
});
