import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RuntimeType } from "../../../shared/cargo.ts";
import type { JsonValue } from "../../../shared/json-value.ts";
import { beginFrames, finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { makeCatalog } from "../../support/small-catalog.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const MODEL = "multilingual-e5-small";
const RANKER = "ranks";
const CLASSIFIER = "distilbert-sst2";
const LONGER_THAN_THE_CARGO_TAKES = "x".repeat(21);
const NORTH = [0, 2];
const EAST = [1, 0];
const NORTH_EAST = [3, 3];
const SOUTH = [0, -1];
const ZERO = [0, 0];

/** A Cargo whose schema names the invalid text. */
function makeTestCatalog(): string {
  const directory = makeCatalog(["tiny-chat", MODEL, CLASSIFIER]);
  const file = join(directory, "cargos", `${MODEL}.json`);
  const input_schema = {
    type: "object",
    properties: { input: { type: "array", items: { type: "string", maxLength: 20 } } },
    required: ["input"],
  };
  const example_input = { input: ["a"] };
  const cargo = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...cargo, input_schema, example_input }));
  const chat = JSON.parse(readFileSync(join(directory, "cargos", "tiny-chat.json"), "utf8"));
  const ranker = { ...chat, slug: RANKER, task: "text-ranking", example_input: { query: "a", documents: ["b"] } };
  writeFileSync(join(directory, "cargos", `${RANKER}.json`), JSON.stringify(ranker));
  return directory;
}

const catalogDirectory = makeTestCatalog();
let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };
let island: FakeIsland;

beforeEach(async () => {
  coordinator = await TestCoordinator.open({
    catalogDirectory,
    chatWaitS: 20,
  });
  account = await coordinator.createAccount("client@example.com");
  island = await FakeIsland.join(coordinator.url, account.islandToken, {
    runtimes: ["onnx", "llmcpp"].map((type) => ({ type: type as RuntimeType, version: "test" })),
    features: ["llmcpp.tasks"],
  });
});
afterEach(async () => {
  await island[Symbol.asyncDispose]();
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const rerank = (body: object) => call(coordinator.url, account.key, "POST", "/rerank", body);
const BODY = { model: MODEL, query: "north", documents: ["east", "north", "north-east", "south"] };

/** Runs the next job with this output. */
async function answer(output: JsonValue): Promise<unknown> {
  const assign = await island.next("assign");
  island.send(...beginFrames(assign), finishedFrame(assign, 1, { output, promptTokens: 7 }));
  return assign.input;
}

describe("POST /rerank", () => {
  it("runs one job for the query and all documents, and returns the nearest first", async () => {
    const asked = rerank(BODY);
    const input = await answer({ embeddings: [NORTH, EAST, NORTH, NORTH_EAST, SOUTH] });
    expect(input).toEqual({ input: ["north", "east", "north", "north-east", "south"] });
    const { status, body } = await asked;
    expect(status).toBe(200);
    expect(body.results.map(({ index }: { index: number }) => index)).toEqual([1, 2, 0, 3]);
    const scores = body.results.map(({ relevance_score: score }: { relevance_score: number }) => score);
    expect(scores[0]).toBe(1);
    expect(scores[1]).toBeCloseTo((1 + Math.SQRT1_2) / 2);
    expect(scores.slice(2)).toEqual([0.5, 0]);
    expect(body.results[0]).not.toHaveProperty("document");
    expect([body.model, body.usage]).toEqual([MODEL, { prompt_tokens: 7, total_tokens: 7 }]);
    const job = await call(coordinator.url, account.key, "GET", `/jobs/${body.id}`);
    expect(job.body.data.status).toBe("completed");
  });

  it("serves Cohere's client at /v2/rerank with its Bearer token, in the format that it reads", async () => {
    const ask = (body: object) =>
      fetch(`${coordinator.url}/v2/rerank`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${account.key}`,
          "Content-Type": "application/json",
          "X-Fern-SDK-Name": "cohere-ai",
        },
        body: JSON.stringify(body),
      });
    const asked = ask({ model: RANKER, query: "north", documents: ["a", "b"], top_n: 1, priority: 3 });
    await answer({ scores: [0.25, 0.75] });
    const response = await asked;
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({
        id: expect.stringMatching(/^job_/),
        results: [{ index: 1, relevance_score: 0.75 }],
        meta: { tokens: { input_tokens: 7, output_tokens: 0 } },
      }),
    ]);
    const refused = await ask({ ...BODY, max_tokens_per_doc: 10 });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: "max_tokens_per_doc" } }]);
    expect((await fetch(`${coordinator.url}/v2/models`)).status).toBe(404);
  });

  it("uses the scores of a reranking Cargo", async () => {
    const asked = rerank({ ...BODY, model: RANKER, documents: ["a", { text: "b" }] });
    expect(await answer({ scores: [0.25, 0.75] })).toEqual({ query: "north", documents: ["a", "b"] });
    const { body } = await asked;
    expect(body.results).toEqual([
      { index: 1, relevance_score: 0.75 },
      { index: 0, relevance_score: 0.25 },
    ]);
  });

  it.each([[{ scores: [1] }], [{ scores: [1, "2"] }], [{ scores: [1, 2] }]])(
    "fails when the output of a reranking Cargo is %j",
    async (output) => {
      const asked = rerank({ ...BODY, model: RANKER, documents: ["a", "b"] });
      await answer(output);
      const { status, body } = await asked;
      expect([status, body.error.code]).toEqual([500, "job_failed"]);
    },
  );

  it("returns only the best documents, with their texts", async () => {
    const documents = ["east", { text: "north" }];
    const asked = rerank({ ...BODY, documents, top_n: 1, return_documents: true });
    await answer({ embeddings: [NORTH, EAST, NORTH] });
    const { body } = await asked;
    expect(body.results).toEqual([{ index: 1, relevance_score: 1, document: { text: "north" } }]);
  });

  it("gives a zero vector the score 0.5, and keeps the order of equal scores", async () => {
    const asked = rerank({ ...BODY, documents: ["none", "east"] });
    await answer({ embeddings: [NORTH, ZERO, EAST] });
    const { body } = await asked;
    expect(body.results).toEqual([
      { index: 0, relevance_score: 0.5 },
      { index: 1, relevance_score: 0.5 },
    ]);
  });

  it.each([
    [{ ...BODY, query: "" }, "query"],
    [{ ...BODY, query: LONGER_THAN_THE_CARGO_TAKES }, "query"],
    [{ ...BODY, documents: [] }, "documents"],
    [{ ...BODY, documents: ["a", 7] }, "documents.1"],
    [{ ...BODY, documents: [{ title: "a" }] }, "documents.0.text"],
    [{ ...BODY, documents: ["ok", LONGER_THAN_THE_CARGO_TAKES] }, "documents.1"],
    [{ ...BODY, documents: Array<string>(256).fill("a") }, "documents"],
    [{ ...BODY, documents: ["x".repeat(262_144)] }, "documents"],
    [{ ...BODY, top_n: 0 }, "top_n"],
  ])("refuses an invalid field and names it (case %#)", async (body, param) => {
    const { status, body: answered } = await rerank(body);
    expect([status, answered.error.type, answered.error.param]).toEqual([422, "invalid_request_error", param]);
  });

  it("uses the default if the request names no model and the operator has set one", async () => {
    const { status, body } = await rerank({ query: "a", documents: ["b"] });
    expect([status, body.error.code]).toEqual([404, "model_not_found"]);
    expect(body.error.message).toContain("default_rerank_cargo");
  });

  it("refuses unknown fields", async () => {
    const { status, body } = await rerank({ ...BODY, max_chunks_per_doc: 4 });
    expect([status, body.error.message]).toEqual([422, expect.stringContaining("max_chunks_per_doc")]);
  });

  it.each(["none", CLASSIFIER])("returns 404 for the model %s", async (model) => {
    const { status, body } = await rerank({ ...BODY, model });
    expect([status, body.error.code]).toEqual([404, "model_not_found"]);
  });

  it("fails when the Cargo returns another number of vectors", async () => {
    const asked = rerank({ ...BODY, documents: ["east"] });
    await answer({ embeddings: [NORTH] });
    const { status, body } = await asked;
    expect([status, body.error.code]).toEqual([500, "job_failed"]);
  });

  it("cancels the job when the client disconnects", async () => {
    const leave = new AbortController();
    const headers = { Authorization: `Bearer ${account.key}`, "Content-Type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(BODY), signal: leave.signal };
    const gone = expect(fetch(`${coordinator.url}/api/v1/rerank`, request)).rejects.toThrow(/abort/i);
    const assign = await island.next("assign");
    island.send(...beginFrames(assign));
    leave.abort();
    await gone;
    expect((await island.next("cancel")).jobId).toBe(assign.jobId);
    await until(
      () => call(coordinator.url, account.key, "GET", `/jobs/${assign.jobId}`),
      ({ body }) => body.data.status === "cancelled",
      "cancelled",
    );
  });
});
