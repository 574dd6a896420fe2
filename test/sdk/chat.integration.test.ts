import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ConnectionError, ServiceUnavailableError } from "../../sdk/typescript/src/index.ts";
import type { JsonValue } from "../../shared/json-value.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { collect, until } from "../support/http/http.ts";
import { CARGO, failed, finished, output, SdkFixture, token } from "./sdk-fixture.ts";

const BODY = { model: CARGO, messages: [{ role: "user" as const, content: "Hi" }] };

let fixture: SdkFixture;
beforeAll(async () => {
  fixture = await SdkFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.proxy.script());

const shuttingDown = {
  kind: "respond",
  status: 503,
  body: { error: { message: "Going down", code: "shutting_down", type: "server_error", param: null } },
} as const;
const proxyFailed = { kind: "respond", status: 503, body: "<h1>No server is available</h1>" } as const;
const noIsland = {
  kind: "respond",
  status: 503,
  headers: { "retry-after": "5" },
  body: { error: { message: "No Island", code: "no_island_available", type: "server_error", param: null } },
} as const;

describe("chat.create()", () => {
  it("returns the completion", async () => {
    const pending = fixture.client().chat.create(BODY);
    const assign = await fixture.taken();
    fixture.island.send(output(assign, 1, token("Hello")), finished(assign, 2));
    const { id, choices, usage } = await pending;
    expect(id).toBe(assign.jobId);
    expect(choices[0]).toMatchObject({ message: { role: "assistant", content: "Hello" }, finish_reason: "stop" });
    expect(usage.total_tokens).toBe(8);
  });

  it("is retried after a rejection without effect, but not if no Island is available or the response is lost", async () => {
    fixture.proxy.script(shuttingDown, proxyFailed);
    const pending = fixture.client().chat.create(BODY);
    const assign = await fixture.taken();
    fixture.island.send(output(assign, 1, token("Hello")), finished(assign, 2));
    expect((await pending).id).toBe(assign.jobId);
    expect(fixture.proxy.seen).toHaveLength(3);

    fixture.proxy.script(noIsland);
    const refused = fixture.client().chat.create(BODY);
    await expect(refused).rejects.toBeInstanceOf(ServiceUnavailableError);
    await expect(refused).rejects.toMatchObject({ code: "no_island_available", retryAfterS: 5 });
    expect(fixture.proxy.seen).toHaveLength(1);

    fixture.proxy.script({ kind: "refuse" });
    await expect(fixture.client().chat.create(BODY)).rejects.toBeInstanceOf(ConnectionError);
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("throws JobFailedError when the job fails", async () => {
    const pending = fixture.client().chat.create(BODY);
    const expected = expect(pending).rejects.toMatchObject({
      name: "JobFailedError",
      status: 500,
      jobError: "model_invalid",
      retryable: false,
    });
    fixture.island.send(failed(await fixture.taken(), 1));
    await expected;
  });
});

describe("chat.stream()", () => {
  it("yields the chunks, with usage on request, and ends", async () => {
    const pending = collect(fixture.client().chat.stream({ ...BODY, stream_options: { include_usage: true } }));
    const assign = await fixture.taken();
    fixture.island.send(output(assign, 1, token("Hel"), token("lo")), finished(assign, 2));
    const chunks = await pending;
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Hello");
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason).filter((reason) => reason != null)).toEqual(["stop"]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 8 } });
  });

  it("is retried after a rejection without effect, but not if no Island is available", async () => {
    fixture.proxy.script(shuttingDown);
    const pending = collect(fixture.client().chat.text(BODY));
    const assign = await fixture.taken();
    fixture.island.send(output(assign, 1, token("Hel"), token("lo")), finished(assign, 2));
    expect((await pending).join("")).toBe("Hello");
    expect(fixture.proxy.seen).toHaveLength(2);

    fixture.proxy.script(noIsland);
    await expect(collect(fixture.client().chat.text(BODY))).rejects.toBeInstanceOf(ServiceUnavailableError);
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("throws if the job fails mid-stream", async () => {
    // Another Island does not continue a completion with a response format.
    const body = { ...BODY, response_format: { type: "json_object" as const } };
    const pieces: string[] = [];
    const pending = (async () => {
      for await (const piece of fixture.client().chat.text(body)) pieces.push(piece);
    })();
    const expected = expect(pending).rejects.toMatchObject({ name: "JobFailedError", retryable: true });
    const assign = await fixture.taken();
    fixture.island.send(output(assign, 1, token("Hel")), { ...failed(assign, 2), retryable: true });
    await expected;
    expect(pieces.join("")).toBe("Hel");
  });

  it.each(["cut", "end"] as const)("throws for the connection fault %s, without a retry", async (kind) => {
    fixture.proxy.script({ kind, afterBytes: 400 });
    const pending = collect(fixture.client().chat.text(BODY));
    const expected = expect(pending).rejects.toBeInstanceOf(ConnectionError);
    const assign = await fixture.taken();
    fixture.island.send(output(assign, 1, token("Hello "), token("again "), token("and again")), finished(assign, 2));
    await expected;
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("cancels the work on the Island when the reader leaves the loop", async () => {
    const pending = (async () => {
      for await (const _ of fixture.client().chat.text(BODY)) return;
    })();
    const assign = await fixture.taken();
    fixture.island.send(output(assign, 1, token("Hello")));
    await pending;
    expect(await fixture.island.next("cancel", ({ jobId }) => jobId === assign.jobId)).toBeDefined();
    const job = await until(
      () => fixture.client().jobs.get(assign.jobId),
      ({ status }) => status === "cancelled",
      "cancelled",
    );
    expect(job.status).toBe("cancelled");
  });
});

/** Runs `call` with a Cargo of this task, whose job gets `output`. */
async function runTask<T>(task: string, output: JsonValue, call: (model: string) => Promise<T>): Promise<T> {
  const cargos = await fixture.client().cargos.list({ runtime_type: "onnx", category: "text" });
  const { islandToken } = await fixture.coordinator.createAccount(`${randomUUID()}@example.com`);
  await using island = await FakeIsland.join(fixture.coordinator.url, islandToken, {
    hostId: randomUUID(),
    runtimes: [{ type: "onnx", version: "test" }],
  });
  const pending = call(cargos.find(({ onnx_task_type: other }) => other === task)?.slug ?? "");
  const assign = await island.next("assign");
  island.send({ type: "started", jobId: assign.jobId, attempt: 1 }, { ...finished(assign, 1), output });
  return pending;
}

describe("text resources", () => {
  const VECTORS = {
    embeddings: [
      [1, 0.5],
      [0, -1],
    ],
  };

  it("embeddings.create() returns a vector per text", async () => {
    const { data, usage } = await runTask("feature-extraction", VECTORS, (model) =>
      fixture.client().embeddings.create({ model, input: ["a", "b"] }),
    );
    expect(data.map(({ embedding }) => embedding)).toEqual(VECTORS.embeddings);
    expect(usage.prompt_tokens).toBe(5);
  });

  it("embeddings.rerank() returns a score per document", async () => {
    const { results } = await runTask("feature-extraction", VECTORS, (model) =>
      fixture.client().embeddings.rerank({ model, query: "a", documents: ["b"] }),
    );
    expect(results).toEqual([{ index: 0, relevance_score: expect.closeTo((1 - 1 / Math.sqrt(5)) / 2) }]);
  });

  it("moderations.create() returns a result per text", async () => {
    const { results } = await runTask("text-classification", [{ label: "hate", score: 0.75 }], (model) =>
      fixture.client().moderations.create({ model, input: "a" }),
    );
    expect(results.map(({ flagged, category_scores: scores }) => [flagged, scores.hate])).toEqual([[true, 0.75]]);
  });
});

describe("models and cargos", () => {
  it("are listed, filtered and found", async () => {
    const { models, cargos } = fixture.client();
    expect((await models.list()).map(({ id }) => id)).toContain(CARGO);
    expect(await models.get(CARGO)).toMatchObject({ id: CARGO, object: "model" });
    expect((await cargos.list({ category: "llm" })).map(({ slug }) => slug)).toContain(CARGO);
    expect(await cargos.list({ runtime_type: "coreml", category: "llm" })).toEqual([]);
    expect((await cargos.get(CARGO)).input_schema).toBeTypeOf("object");
  });
});
