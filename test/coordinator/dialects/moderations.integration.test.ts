import { NotFoundError, OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../shared/json-value.ts";
import { beginFrames, failedFrame, finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { makeCatalog } from "../../support/small-catalog.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const MODEL = "toxic-bert";
const catalogDirectory = makeCatalog(["tiny-chat", MODEL, "multilingual-e5-small"]);
let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };
let island: FakeIsland;
let client: OpenAI;

beforeEach(async () => {
  coordinator = await TestCoordinator.open({ catalogDirectory, chatWaitS: 20 });
  account = await coordinator.createAccount("client@example.com");
  client = new OpenAI({ apiKey: account.key, baseURL: `${coordinator.url}/api/v1`, maxRetries: 0 });
  island = await FakeIsland.join(coordinator.url, account.islandToken, {
    runtimes: [{ type: "onnx", version: "test" }],
  });
});
afterEach(async () => {
  await island[Symbol.asyncDispose]();
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const moderate = (body: object) => call(coordinator.url, account.key, "POST", "/moderations", body);

/** Runs the next job with this output. */
async function answer(output: JsonValue): Promise<unknown> {
  const assign = await island.next("assign");
  island.send(...beginFrames(assign), finishedFrame(assign, 1, { output }));
  return assign.input;
}

describe("POST /moderations", () => {
  it("returns OpenAI's categories and the Cargo's labels to the openai client", async () => {
    const asked = client.moderations.create({ model: MODEL, input: "You fool" });
    const labels = [
      { label: "toxic", score: 0.75 },
      { label: "insult", score: 0.9 },
      { label: "threat", score: 0.25 },
      { label: "illicit/violent", score: 0.5 },
      { label: "spam", score: 0.99 },
    ];
    expect(await answer(labels)).toEqual({ text: "You fool", top_k: 100 });
    const { results, model } = await asked;
    expect([results.length, model]).toEqual([1, MODEL]);
    const [result] = results;
    expect(result?.flagged).toBe(true);
    const { categories, category_scores: scores, category_applied_input_types: types } = result ?? {};
    const isTrue = Object.entries(categories ?? {}).filter(([, value]) => value === true);
    expect(isTrue.map(([name]) => name)).toEqual(["harassment", "illicit/violent"]);
    expect(scores).toMatchObject({ harassment: 0.9, "harassment/threatening": 0.25, "illicit/violent": 0.5, hate: 0 });
    expect(Object.keys(scores ?? {})).toHaveLength(13);
    expect(types).toMatchObject({ harassment: ["text"], hate: [] });
    expect(result).toMatchObject({ labels });
  });

  it("runs a job for each text, some at once, and returns results in their order", async () => {
    const asked = moderate({ model: MODEL, input: ["a", { type: "text", text: "b" }] });
    const assigns = [await island.next("assign"), await island.next("assign")];
    expect(new Set(assigns.map(({ input }) => input["text"]))).toEqual(new Set(["a", "b"]));
    for (const assign of assigns.toReversed()) {
      const label = assign.input["text"] === "a" ? "hate" : "OK";
      island.send(...beginFrames(assign), finishedFrame(assign, 1, { output: [{ label, score: 0.75 }] }));
    }
    const { status, body } = await asked;
    expect(status).toBe(200);
    expect(body.results.map(({ flagged }: { flagged: boolean }) => flagged)).toEqual([true, false]);
    const { body: account_ } = await call(coordinator.url, account.key, "GET", "/jobs");
    expect(account_.data.map(({ status: end }: { status: string }) => end)).toEqual(["completed", "completed"]);
  });

  it.each([
    [{ model: MODEL, input: "" }, "input"],
    [{ model: MODEL, input: [] }, "input"],
    [{ model: MODEL, input: Array<string>(33).fill("a") }, "input"],
    [{ model: MODEL, input: ["a", ""] }, "input.1"],
    [{ model: MODEL, input: "x".repeat(20_001) }, "input"],
  ])("refuses an invalid field and names it (case %#)", async (body, param) => {
    const { status, body: answered } = await moderate(body);
    expect([status, answered.error.type, answered.error.param]).toEqual([422, "invalid_request_error", param]);
  });

  it("refuses images and unknown fields", async () => {
    const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    const answers = [
      await moderate({ model: MODEL, input: [image] }),
      await moderate({ model: MODEL, input: "a", n: 2 }),
    ];
    expect(answers.map(({ status, body }) => [status, body.error.message])).toEqual([
      [422, expect.stringContaining("input")],
      [422, expect.stringContaining("n")],
    ]);
  });

  it.each(["none", "tiny-chat", "multilingual-e5-small"])("returns 404 for the model %s", async (model) => {
    await expect(client.moderations.create({ model, input: "a" })).rejects.toBeInstanceOf(NotFoundError);
  });

  it.each([["text"], [[]], [{ label: "a", score: 1 }]])("fails when the Cargo's output is %j", async (output) => {
    const asked = moderate({ model: MODEL, input: "a" });
    await answer(output);
    const { status, body } = await asked;
    expect([status, body.error.code]).toEqual([500, "job_failed"]);
  });

  it("cancels the other jobs and starts no more after a failure", async () => {
    const asked = moderate({ model: MODEL, input: ["a", "b", "c", "d", "e"] });
    const assigns = [await island.next("assign"), await island.next("assign")];
    const [first, second] = assigns;
    if (first === undefined || second === undefined) throw new Error("two jobs run");
    island.send(...beginFrames(first), ...beginFrames(second), failedFrame(first, 1, "out_of_memory"));
    // A job that got the free slot may be cancelled first.
    const { jobId, attempt } = await island.next("cancel", (frame) => frame.jobId === second.jobId);
    island.send({ type: "cancelled", jobId, attempt, seq: 1 });
    const { status, body } = await asked;
    expect([status, body.error.job_error]).toEqual([500, "out_of_memory"]);
    const jobs = await call(coordinator.url, account.key, "GET", "/jobs");
    expect(jobs.body.meta.total).toBe(4);
  });
});
