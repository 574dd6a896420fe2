import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostedCargo } from "../../../../island-agent/runtimes/host/hosted-cargo.ts";
import { describeRuntime } from "../runtime.contract.ts";
import {
  HARDLY,
  loadPainter,
  makeCargo,
  makeRuntime,
  NEVER,
  paint,
  paintHere,
  PipelineCopies,
  pipelineFixture,
  PLAINLY,
} from "./diffusers-support.ts";
import { estimateOf } from "../../../support/models/estimate-of.ts";

/** These small pipelines were not trained for the usual guidance scale of 7.5. */
const RED = { prompt: "a red picture", seed: 7, guidance_scale: 2, steps: 12 };
const IS_RED = {
  red: expect.toSatisfy(isPlain),
  green: expect.toSatisfy(isHardlyThere),
  blue: expect.toSatisfy(isHardlyThere),
};

function isPlain(mean: number): boolean {
  return mean > PLAINLY;
}
function isHardlyThere(mean: number): boolean {
  return mean < HARDLY;
}

const copies = new PipelineCopies();
afterAll(() => copies[Symbol.dispose]());

describeRuntime("diffusers", async () => ({
  load: () => loadPainter(pipelineFixture("tiny-sd")),
  short: { input: { ...RED, steps: 3 }, resume: null },
  long: { input: { ...RED, steps: 200, width: 256, height: 256 }, resume: null },
  invalid: { input: { prompt: "" }, resume: null },
}));

describe("a Stable Diffusion pipeline", () => {
  let painter: HostedCargo;
  beforeAll(async () => {
    painter = await loadPainter(pipelineFixture("tiny-sd"));
  });
  afterAll(() => painter[Symbol.asyncDispose]());

  it("generates what the prompt describes", async () => {
    expect(await paint(painter, RED)).toMatchObject(IS_RED);
    const blue = await paint(painter, { ...RED, prompt: "everything is blue" });
    expect(blue).toMatchObject({ red: IS_RED.green, blue: IS_RED.red });
  });

  it("reports each step, then returns the image once as an item and as the output", async () => {
    const { items, output, finishReason, usage, data } = await paint(painter, { ...RED, steps: 5 });
    const steps = [1, 2, 3, 4, 5].map((step) => ({ type: "progress", step, total: 5 }));
    expect(items).toEqual([...steps, { type: "image", format: "png", data }]);
    expect({ output, finishReason }).toEqual({ output: { format: "png", data }, finishReason: "stop" });
    expect(usage).toEqual({ promptTokens: 3, completionTokens: 0 });
  });

  it("uses the pipeline's size and 25 steps by default", async () => {
    const { width, height, items } = await paint(painter, { prompt: "red" });
    expect([width, height, items.length]).toEqual([64, 64, 26]);
  });

  it("generates the requested size", async () => {
    const wide = await paint(painter, { ...RED, width: 192, height: 128 });
    expect(wide).toMatchObject({ width: 192, height: 128, ...IS_RED });
  });

  it("refuses a size that its U-Net cannot halve, and names the supported multiple", async () => {
    await expect(paint(painter, { ...RED, width: 72 })).rejects.toMatchObject({
      code: "invalid_input",
      retryable: false,
      message: "width: this model cannot generate images of 72 by 64 pixels. Use multiples of 64",
    });
  });

  it("generates the same bytes for the same seed, even in another process", async () => {
    const first = await paint(painter, RED);
    await using other = await loadPainter(pipelineFixture("tiny-sd"));
    expect((await paint(painter, RED)).data).toBe(first.data);
    expect((await paint(other, RED)).data).toBe(first.data);
  });

  it("generates another image for another seed or without a seed", async () => {
    const { seed: _, ...unseeded } = RED;
    const images = [RED, { ...RED, seed: 8 }, { ...RED, seed: 7 + 2 ** 32 }, unseeded, unseeded];
    const drawn = new Set<string>();
    for (const input of images) drawn.add((await paint(painter, input)).data);
    expect(drawn.size).toBe(5);
  });

  it("follows the prompt more closely with more guidance", async () => {
    const [free, guided] = [await paint(painter, { ...RED, guidance_scale: 0 }), await paint(painter, RED)];
    expect(guided.data).not.toBe(free.data);
    expect(guided.green + guided.blue).toBeLessThan(free.green + free.blue);
  });

  it("ignores the negative prompt at guidance scales 0 and 1", async () => {
    const alone = await paint(painter, { ...RED, guidance_scale: 1 });
    const others = [{ guidance_scale: 0 }, { guidance_scale: 1, negative_prompt: "blue" }];
    for (const other of others) expect((await paint(painter, { ...RED, ...other })).data).toBe(alone.data);
  });

  it("avoids the negative prompt", async () => {
    const wanted = { ...RED, prompt: "a picture of yellow" };
    const plain = await paint(painter, wanted);
    const { red, usage } = await paint(painter, { ...wanted, negative_prompt: "red" });
    expect(red).toBeLessThan(plain.red - 10);
    expect(usage.promptTokens).toBe(5);
  });

  it("reads at most 75 tokens of a prompt", async () => {
    const { usage, data } = await paint(painter, { ...RED, prompt: "red ".repeat(75) });
    expect(usage.promptTokens).toBe(75);
    expect((await paint(painter, { ...RED, prompt: `${"red ".repeat(75)} blue` })).data).toBe(data);
  });

  it.each([
    [{ _class_name: "PNDMScheduler", steps_offset: 1, set_alpha_to_one: false }],
    [{ _class_name: "DDIMScheduler", timestep_spacing: "trailing", clip_sample: false }],
    [{ _class_name: "EulerDiscreteScheduler" }],
    [{ _class_name: "DPMSolverMultistepScheduler", timestep_spacing: "trailing" }],
    [{ _class_name: "LCMScheduler" }],
  ])("generates an image with scheduler %j", async (scheduler) => {
    expect(await paintHere(copies.withScheduler(scheduler), RED)).toMatchObject(IS_RED);
  });

  it("needs less memory than estimated", async () => {
    const { ramBytes, vramBytes } = await estimateOf(makeRuntime(), makeCargo(), pipelineFixture("tiny-sd"));
    expect(vramBytes).toBe(0);
    expect(ramBytes).toBeGreaterThan(painter.memory?.ramBytes ?? Infinity);
  });

  it("uses the files of the requested weight format", async () => {
    const loaded: unknown[] = [];
    await using half = await loadPainter(
      pipelineFixture("tiny-sd"),
      { weights: "fp16" },
      { log: { info: (facts: { graphs?: unknown }) => loaded.push(facts.graphs) } },
    );
    expect(loaded).toEqual([["text_encoder/model_fp16.onnx", "unet/model_fp16.onnx", "vae_decoder/model_fp16.onnx"]]);
    const [whole, drawn] = [await paint(painter, RED), await paint(half, RED)];
    expect(drawn.data).not.toBe(whole.data);
    expect(Math.abs(drawn.red - whole.red)).toBeLessThan(2);
    expect(drawn).toMatchObject(IS_RED);
  });
});

describe("a latent consistency pipeline", () => {
  it("generates in four steps, with embedded guidance", async () => {
    await using painter = await loadPainter(pipelineFixture("tiny-lcm"));
    const input = { prompt: "a red picture", seed: 7 };
    const drawn = await paint(painter, input);
    expect(drawn.items.filter(({ type }) => type === "progress")).toHaveLength(4);
    expect(drawn).toMatchObject(IS_RED);
    const [little, much] = [{ guidance_scale: 2 }, { guidance_scale: 13 }];
    const pale = await paint(painter, { ...input, ...little });
    const full = await paint(painter, { ...input, ...much });
    expect(full.red - full.green).toBeGreaterThan(pale.red - pale.green + 40);
    expect((await paint(painter, { ...input, ...much, negative_prompt: "red" })).data).toBe(full.data);
    await expect(paint(painter, { ...input, steps: 51 })).rejects.toMatchObject({
      code: "invalid_input",
      message: "steps: must be at most 50 for this model, got 51",
    });
  });
});

describe("an SDXL pipeline", () => {
  it("uses two text encoders, and zeros if there is no negative prompt", async () => {
    await using painter = await loadPainter(pipelineFixture("tiny-sdxl"));
    const drawn = await paint(painter, RED);
    expect(drawn).toMatchObject({ width: 64, height: 64, ...IS_RED });
    expect((await paint(painter, { ...RED, negative_prompt: "" })).data).not.toBe(drawn.data);
    const blue = await paint(painter, { ...RED, prompt: "blue", width: 128 });
    expect(blue).toMatchObject({ width: 128, red: IS_RED.green, blue: IS_RED.red });
  });
});

describe("probe()", () => {
  it("returns the versions and the provider", async () => {
    await expect(makeRuntime().probe(NEVER)).resolves.toEqual({
      usable: true,
      version: expect.stringMatching(/^onnxruntime-node \d+\.\d+\.\d+, transformers\.js \d+\.\d+\.\d+, cpu$/),
    });
  });
  it("returns why the configured provider is unavailable", async () => {
    const probed = await makeRuntime({ device: process.platform === "darwin" ? "dml" : "coreml" }).probe(NEVER);
    expect(probed).toEqual({
      usable: false,
      reason: expect.stringMatching(/^ONNX Runtime cannot use (coreml|dml) here: /),
    });
  });
});
