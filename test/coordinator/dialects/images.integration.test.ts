import { NotFoundError, OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames, failedFrame, finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { makeCatalog } from "../../support/small-catalog.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const MODEL = "lcm-dreamshaper-v7";
const catalogDirectory = makeCatalog(["tiny-chat", MODEL], { required_ram_mb: 64, required_vram_mb: 0 });
let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };
let island: FakeIsland;
let client: OpenAI;

beforeEach(async () => {
  coordinator = await TestCoordinator.open({ catalogDirectory, chatWaitS: 20 });
  account = await coordinator.createAccount("client@example.com");
  client = new OpenAI({ apiKey: account.key, baseURL: `${coordinator.url}/api/v1`, maxRetries: 0 });
  island = await FakeIsland.join(coordinator.url, account.islandToken, {
    runtimes: [{ type: "diffusers", version: "test" }],
  });
});
afterEach(async () => {
  await island[Symbol.asyncDispose]();
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const draw = (body: object) => call(coordinator.url, account.key, "POST", "/images/generations", body);

/** Runs the next job with this image. */
async function paint(data: string): Promise<Assign["input"]> {
  const assign = await island.next("assign");
  const { jobId, attempt, input } = assign;
  const image = { type: "image" as const, format: "png", data };
  island.send(
    ...beginFrames(assign),
    { type: "output", jobId, attempt, seq: 1, items: [image] },
    finishedFrame(assign, 2, { output: { format: "png", data } }),
  );
  return input;
}

describe("POST /images/generations", () => {
  it("returns an image to the openai client", async () => {
    const asked = client.images.generate({ model: MODEL, prompt: "an atoll", size: "512x512" });
    expect(await paint("AAAA")).toEqual({ prompt: "an atoll", width: 512, height: 512, seed: expect.any(Number) });
    const { data, usage, created, output_format: format } = await asked;
    expect(data).toEqual([{ b64_json: "AAAA" }]);
    expect([usage?.input_tokens, usage?.total_tokens, format]).toEqual([5, 5, "png"]);
    expect(created).toBeGreaterThan(1_700_000_000);
  });

  it("returns several images, each with its own seed, and large ones from storage", async () => {
    const large = "A".repeat(400_000);
    const ask = { model: MODEL, prompt: "an atoll", n: 2, seed: 4_294_967_295, size: "auto", steps: 2 };
    const asked = draw({ ...ask, negative_prompt: "a ship", guidance_scale: 1, quality: "auto", user: "me" });
    const rest = { prompt: "an atoll", steps: 2, negative_prompt: "a ship", guidance_scale: 1 };
    expect(await paint(large)).toEqual({ ...rest, seed: 4_294_967_295 });
    expect(await paint("BBBB")).toEqual({ ...rest, seed: 0 });
    const { status, body } = await asked;
    expect(status).toBe(200);
    expect(body.data.map(({ b64_json: data }: { b64_json: string }) => data)).toEqual([large, "BBBB"]);
    expect(body.usage.input_tokens).toBe(10);
  });

  it.each([
    [{ prompt: "" }, "prompt"],
    [{ n: 11 }, "n"],
    [{ size: "big" }, "size"],
    [{ size: "100x512" }, "size"],
    [{ steps: 17 }, "steps"],
    [{ seed: -1 }, "seed"],
    [{ response_format: "url" }, "response_format"],
    [{ output_format: "webp" }, "output_format"],
    [{ quality: "hd" }, "quality"],
    [{ sampler: "euler" }, "sampler"],
  ])("refuses %j and names it", async (fields, param) => {
    const { status, body } = await draw({ model: MODEL, prompt: "an atoll", ...fields });
    expect([status, body.error.type, body.error.param]).toEqual([422, "invalid_request_error", param]);
  });

  it("names the sizes that the Cargo supports, once", async () => {
    const { body } = await draw({ model: MODEL, prompt: "an atoll", size: "64x64" });
    const sides = "384, 448, 512, 576, 640, 704, 768";
    const message = `must be "auto" or a width of ${sides} and a height of ${sides} for this Cargo, got "64x64"`;
    expect(body.error.details).toEqual([{ path: "size", message }]);
  });

  it("requires a model unless the operator has set a default", async () => {
    const { status, body } = await draw({ prompt: "a" });
    expect([status, body.error.message]).toEqual([404, expect.stringContaining("default_image_cargo")]);
  });

  it.each(["none", "tiny-chat"])("returns 404 for the model %s", async (model) => {
    await expect(client.images.generate({ model, prompt: "a" })).rejects.toBeInstanceOf(NotFoundError);
  });

  it("fails when the Cargo's output has no image, and runs no other job", async () => {
    const asked = draw({ model: MODEL, prompt: "a", n: 2 });
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), failedFrame(assign, 1, "out_of_memory"));
    const { status, body } = await asked;
    expect([status, body.error.job_error]).toEqual([500, "out_of_memory"]);
    const jobs = await call(coordinator.url, account.key, "GET", "/jobs");
    expect(jobs.body.meta.total).toBe(1);
  });

  it("cancels the job when its client disconnects", async () => {
    const leaving = new AbortController();
    const asked = client.images.generate({ model: MODEL, prompt: "a", n: 2 }, { signal: leaving.signal });
    const { jobId } = await island.next("assign");
    leaving.abort();
    await expect(asked).rejects.toThrow("aborted");
    expect(await island.next("cancel")).toMatchObject({ jobId });
  });
});
