import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NotFoundError, OpenAI, UnprocessableEntityError } from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../shared/json-value.ts";
import { beginFrames, failedFrame, finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const SHIPPED = join(import.meta.dirname, "..", "..", "..", "catalog", "cargos");
const EMBEDDER = {
  slug: "words-embed",
  name: "Words",
  description: "Makes vectors",
  category: "text",
  runtime_type: "onnx",
  onnx_task_type: "feature-extraction",
  licence: "MIT",
  price_per_job: 0.5,
  required_ram_mb: 64,
  required_vram_mb: 0,
  model: { url: "hf:owner/words", sha256: null, size_bytes: null },
  input_schema: {
    type: "object",
    properties: { input: { type: "array", items: { type: "string", maxLength: 20 } } },
    required: ["input"],
  },
  example_input: { input: ["a"] },
};

let catalogDirectory: string;
let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };
let client: OpenAI;

beforeAll(async () => {
  catalogDirectory = await mkdtemp(join(tmpdir(), "atoll-catalog-"));
  const cargos = join(catalogDirectory, "cargos");
  await mkdir(cargos);
  await copyFile(join(SHIPPED, "tiny-chat.json"), join(cargos, "tiny-chat.json"));
  await writeFile(join(cargos, "words-embed.json"), JSON.stringify(EMBEDDER));
  const classifier = { ...EMBEDDER, slug: "words-class", onnx_task_type: "text-classification" };
  await writeFile(join(cargos, "words-class.json"), JSON.stringify(classifier));
  const { onnx_task_type: task, input_schema: _ownSchema, ...fields } = EMBEDDER;
  const model = { url: "hf:owner/words:words.gguf", sha256: null, size_bytes: null };
  const gguf = { ...fields, slug: "words-gguf", runtime_type: "llmcpp", task, model, context_tokens: 512 };
  await writeFile(join(cargos, "words-gguf.json"), JSON.stringify(gguf));
});
afterAll(() => rm(catalogDirectory, { recursive: true, force: true }));
beforeEach(async () => {
  coordinator = await TestCoordinator.open({ catalogDirectory, chatWaitS: 20, defaultEmbeddingCargo: "words-embed" });
  account = await coordinator.createAccount("client@example.com");
  client = new OpenAI({ apiKey: account.key, baseURL: `${coordinator.url}/api/v1`, maxRetries: 0 });
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const joinIsland = (): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, { runtimes: [{ type: "onnx", version: "test" }] });
const embed = (body: object) => call(coordinator.url, account.key, "POST", "/embeddings", body);

/** Runs the next job with this output. */
async function answer(island: FakeIsland, output: JsonValue | undefined): Promise<Record<string, unknown>> {
  const assign = await island.next("assign");
  island.send(...beginFrames(assign), finishedFrame(assign, 1, { output, promptTokens: 7 }));
  return { ...assign.input };
}

describe("POST /embeddings", () => {
  it("runs one job for all texts and responds in OpenAI's format", async () => {
    await using island = await joinIsland();
    const asked = embed({ model: "words-embed", input: ["a", "b"], user: "someone", encoding_format: "float" });
    expect(
      await answer(island, {
        embeddings: [
          [0.5, -1],
          [2, 3],
        ],
      }),
    ).toEqual({ input: ["a", "b"] });
    expect(await asked).toMatchObject({
      status: 200,
      body: {
        object: "list",
        data: [
          { object: "embedding", index: 0, embedding: [0.5, -1] },
          { object: "embedding", index: 1, embedding: [2, 3] },
        ],
        model: "words-embed",
        usage: { prompt_tokens: 7, total_tokens: 7 },
      },
    });
    const { body } = await call(coordinator.url, account.key, "GET", "/account");
    // 7 prompt tokens at 0.5 / 500 credits. The account owns the Island and earns nine tenths of them.
    expect(body.data.credits).toBe(1_000 - 0.007 * 0.1);
  });

  it("runs a job for each 256 texts, and returns all vectors in their order", async () => {
    await using island = await joinIsland();
    island.handle((frame) => {
      if (frame.type !== "assign") return;
      const embeddings = (frame.input["input"] as string[]).map((text) => [Number(text)]);
      island.send(...beginFrames(frame), finishedFrame(frame, 1, { output: { embeddings }, promptTokens: 7 }));
    });
    const input = Array.from({ length: 600 }, (_, index) => String(index));
    const { data, usage } = await client.embeddings.create({ model: "words-embed", input, encoding_format: "float" });
    expect(data.map(({ embedding, index }) => [embedding, index])).toEqual(input.map((_, index) => [[index], index]));
    expect(usage).toEqual({ prompt_tokens: 21, total_tokens: 21 });
    const wrong = { model: "words-embed", input: [...input, "longer than the Cargo takes"] };
    expect((await embed(wrong)).body.error.param).toBe("input.600");
  });

  it("runs GGUF models too", async () => {
    await using island = await FakeIsland.join(coordinator.url, account.islandToken, {
      runtimes: [{ type: "llmcpp", version: "test" }],
      features: ["llmcpp.tasks"],
    });
    const asked = embed({ model: "words-gguf", input: ["a", "b"] });
    const embeddings = [[0.5], [2]];
    expect(await answer(island, { embeddings })).toEqual({ input: ["a", "b"] });
    expect((await asked).body.data.map(({ embedding }: { embedding: unknown }) => embedding)).toEqual(embeddings);
    const { body } = await call(coordinator.url, account.key, "GET", "/cargos/words-gguf");
    expect(body.data).toMatchObject({ chat: false, task: "feature-extraction" });
    expect(await embed({ model: "tiny-chat", input: "a" })).toMatchObject({ status: 404 });
  });

  it("uses the operator's default for a request without a model", async () => {
    await using island = await joinIsland();
    const asked = embed({ input: "a" });
    expect(await answer(island, { embeddings: [[1]] })).toEqual({ input: ["a"] });
    expect((await asked).body).toMatchObject({ model: "words-embed" });
  });

  it.each(["float", "base64", undefined] as const)("returns vectors to the openai client as %s", async (format) => {
    await using island = await joinIsland();
    const asked = client.embeddings.create({
      model: "words-embed",
      input: "one text",
      ...(format === undefined ? {} : { encoding_format: format }),
    });
    const vector = [0.1, -2.5, 1e-7];
    expect(await answer(island, { embeddings: [vector] })).toEqual({ input: ["one text"] });
    const { data, usage } = await asked;
    expect(usage.total_tokens).toBe(7);
    const given: unknown = data[0]?.embedding;
    const floats = typeof given === "string" ? decode(given) : (given as number[]);
    expect(floats.map(Math.fround)).toEqual(vector.map(Math.fround));
  });

  it.each([
    [{ model: "words-embed", input: "" }, "input"],
    [{ model: "words-embed", input: [] }, "input"],
    [{ model: "words-embed", input: Array<string>(2_049).fill("a") }, "input"],
    [{ model: "words-embed", input: [1, 2] }, "input"],
    [{ model: "words-embed", input: "x".repeat(262_144) }, "input"],
    [{ model: "words-embed", input: ["ok", "longer than the Cargo takes"] }, "input.1"],
    [{ model: "words-embed", input: "a", dimensions: 0 }, "dimensions"],
    [{ model: "words-embed", input: "a", encoding_format: "hex" }, "encoding_format"],
    [{ model: "", input: "a" }, "model"],
  ])("refuses %j and names the field", async (body, param) => {
    const { status, body: answered } = await embed(body);
    expect([status, answered.error.type, answered.error.param]).toEqual([422, "invalid_request_error", param]);
  });

  it.each([
    ["", "input: must not be empty"],
    [[], "input: must have at least one text"],
    [["a", ""], "input.1: must not be empty"],
    [[1, 2], "input: must be strings; token ids are not supported"],
    [[[1, 2]], "input: must be strings; token ids are not supported"],
    [7, "input: must be a string, or a list of 1 to 2048 strings"],
    [Array.from({ length: 2_049 }, () => "a"), "input: has 2049 texts; send at most 2048"],
  ])("describes the fault of the input %j", async (input, message) => {
    expect((await embed({ model: "words-embed", input })).body.error.message).toBe(message);
  });

  it.each(["none", "tiny-chat", "words-class"])("returns 404 for the model %s", async (model) => {
    const asked = client.embeddings.create({ model, input: "a" });
    await expect(asked).rejects.toBeInstanceOf(NotFoundError);
    await expect(asked).rejects.toMatchObject({ code: "model_not_found", type: "invalid_request_error" });
  });

  it("accepts the model's own number of dimensions, and refuses another after the job has run", async () => {
    await using island = await joinIsland();
    const own = embed({ model: "words-embed", input: "a", dimensions: 2 });
    await answer(island, { embeddings: [[0.5, 2]] });
    expect((await own).status).toBe(200);
    const other = embed({ model: "words-embed", input: "a", dimensions: 8 });
    await answer(island, { embeddings: [[0.5, 2]] });
    const { status, body } = await other;
    expect([status, body.error.param, body.error.message]).toEqual([
      422,
      "dimensions",
      "dimensions: must be 2, this model's number of dimensions, or omitted; got 8",
    ]);
  });

  it("throws UnprocessableEntityError with param in the openai client", async () => {
    const asked = client.embeddings.create({ model: "words-embed", input: "a", dimensions: 0 });
    await expect(asked).rejects.toBeInstanceOf(UnprocessableEntityError);
    await expect(asked).rejects.toMatchObject({ param: "dimensions", code: "validation_failed" });
  });

  it("waits for an Island like a chat, then returns 503 with Retry-After", async () => {
    await coordinator.stop();
    coordinator.withFlags({ chatWaitS: 0.3 });
    await coordinator.start();
    const { status, body, headers } = await embed({ model: "words-embed", input: "a" });
    expect([status, body.error.code, headers.get("retry-after")]).toEqual([503, "no_island_available", "5"]);
    expect(body.error.message).toMatch(/onnx|Island/);
  });

  it("cancels the job when the client disconnects", async () => {
    await using island = await joinIsland();
    const leave = new AbortController();
    const asked = client.embeddings.create({ model: "words-embed", input: "a" }, { signal: leave.signal });
    const gone = expect(asked).rejects.toThrow(/abort/i);
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

  it.each([
    [{ embeddings: [[1]] }],
    [{ embeddings: [[1], []] }],
    [{ embeddings: [[1], [1, 2]] }],
    ["text"],
    [undefined],
  ])("fails when the Cargo's output is %j for two texts", async (output) => {
    await using island = await joinIsland();
    const asked = embed({ model: "words-embed", input: ["a", "b"] });
    await answer(island, output);
    const { status, body } = await asked;
    expect([status, body.error.code, body.error.type]).toEqual([500, "job_failed", "server_error"]);
  });

  it("returns why a job failed", async () => {
    await using island = await joinIsland();
    const asked = embed({ model: "words-embed", input: "a" });
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), failedFrame(assign, 1, "out_of_memory"));
    const { status, body } = await asked;
    expect([status, body.error.code, body.error.job_error]).toEqual([500, "job_failed", "out_of_memory"]);
  });
});

function decode(base64: string): number[] {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
