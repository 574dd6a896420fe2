import { describe, expect, it } from "vitest";
import type { DenoiserContext } from "../../../../island-agent/runtimes/diffusers/denoiser.ts";
import { generateImage } from "../../../../island-agent/runtimes/diffusers/generate-image.ts";
import type { ImageJob } from "../../../../island-agent/runtimes/diffusers/image-input.ts";
import type { ImagePipeline } from "../../../../island-agent/runtimes/diffusers/image-pipeline.ts";
import { encodePng } from "../../../support/models/test-images.ts";
import { readSchedulerConfig } from "../../../../island-agent/runtimes/diffusers/samplers/scheduler-config.ts";

const NEVER = new AbortController().signal;
interface Prediction {
  readonly latents: Float32Array;
  readonly timestep: number;
  readonly embeddings: number;
  readonly context: DenoiserContext;
}

/** A pipeline whose network returns zeros. It records the inputs of its network and its decoder. */
function makePipeline(className: string, overrides: object = {}) {
  const predictions: Prediction[] = [];
  const states = { data: new Float32Array(4), dims: [1, 2, 2] };
  const encoder = { outputNames: ["last_hidden_state"], run: async () => new Map([["last_hidden_state", states]]) };
  const decoded: Float32Array[] = [];
  const pipeline = {
    promptEncoders: [{ encoder, tokenize: () => ({ ids: [0, 0], textTokens: 2 }) }],
    encodePrompt: async () => ({ states, pooled: null, textTokens: 2 }),
    denoiser: {
      channels: 4,
      fixedLatentSize: null,
      predict: async (latents: Float32Array, timestep: number, embeddings: unknown[], context: DenoiserContext) => {
        predictions.push({ latents, timestep, embeddings: embeddings.length, context });
        return embeddings.map(() => new Float32Array(latents.length));
      },
    },
    decoder: {
      decode: async (latents: Float32Array) => {
        decoded.push(latents);
        return { width: 0, height: 0, rgb: new Uint8Array() };
      },
    },
    plan: readSchedulerConfig({
      _class_name: className,
      beta_schedule: "scaled_linear",
      beta_start: 0.00085,
      beta_end: 0.012,
    }),
    defaultLatentSize: { width: 32, height: 16 },
    guidanceWidth: null,
    isEmptyPromptZero: false,
    dispose: async () => {},
    ...overrides,
  } as unknown as ImagePipeline;
  return { pipeline, predictions, decoded };
}

const draw = (pipeline: ImagePipeline, job: Partial<ImageJob> = {}, onProgress = () => {}, signal = NEVER) =>
  generateImage(pipeline, { job: { prompt: "red", ...job }, seed: 7, onProgress, signal });

function deviationOf(numbers: Float32Array): number {
  return Math.sqrt(numbers.reduce((sum, x) => sum + x * x, 0) / numbers.length);
}

describe("generateImage()", () => {
  it.each([["EulerDiscreteScheduler"], ["DDIMScheduler"], ["LCMScheduler"]])(
    "starts with noise of deviation 1, in the network's scale (%s)",
    async (className) => {
      const { pipeline, predictions } = makePipeline(className);
      await draw(pipeline, { steps: 4 });
      expect(predictions[0]?.latents).toHaveLength(4 * 32 * 16);
      expect(deviationOf(predictions[0]?.latents ?? new Float32Array())).toBeCloseTo(1, 1);
    },
  );

  it("predicts at the sampler's timesteps, with and without the prompt, and passes the size in pixels", async () => {
    const { pipeline, predictions } = makePipeline("DDIMScheduler");
    await draw(pipeline, { steps: 2, height: 64 });
    expect(predictions.map(({ timestep }) => timestep)).toEqual([500, 0]);
    expect(predictions.map(({ embeddings }) => embeddings)).toEqual([2, 2]);
    expect(predictions[0]?.context).toEqual({
      latentSize: { width: 32, height: 8 },
      imageSize: { width: 256, height: 64 },
      guidance: null,
      scale: 7.5,
      extraChannels: null,
    });
  });

  it("passes the mask and the latents of the masked image to an inpainting network", async () => {
    const encoded: Float32Array[] = [];
    const encode = async (pixels: Float32Array): Promise<Float32Array> => {
      encoded.push(pixels);
      return new Float32Array(4 * 8 * 8).fill(encoded.length);
    };
    const { pipeline, predictions } = makePipeline("DDIMScheduler", { openEncoder: async () => ({ encode }) });
    Object.assign(pipeline.denoiser, { isInpainting: true });
    const box = (left: number) => ({ colour: "white" as const, left, top: 0, right: 64, bottom: 64 });
    const [image, mask] = [box(0), box(32)].map((painted) => encodePng(64, 64, [painted]).toString("base64"));
    await draw(pipeline, { steps: 2, width: 64, height: 64, image, mask_image: mask });
    expect(encoded.map((pixels) => new Set(pixels))).toEqual([new Set([1]), new Set([1, 0])]);
    const extra = [...(predictions[0]?.context.extraChannels ?? [])];
    expect(extra.slice(0, 8)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect(extra.slice(64)).toEqual(Array(4 * 64).fill(2));
    for (const without of ["image", "mask_image"]) {
      const job = { image, mask_image: mask, [without]: undefined };
      await expect(draw(pipeline, job)).rejects.toMatchObject({ code: "invalid_input" });
    }
  });

  it("uses separate, reproducible noise for each step of a consistency model", async () => {
    const { pipeline, predictions } = makePipeline("LCMScheduler");
    await draw(pipeline, { steps: 3 });
    // If the latents of all three steps were sums of two noises, they would lie in a plane.
    const [[a = 0, b = 0, c = 0], [d = 0, e = 0, f = 0], [g = 0, h = 0, i = 0]] = predictions.map(({ latents }) => {
      const scale = deviationOf(latents);
      return [...latents.slice(0, 3)].map((latent) => latent / scale);
    }) as [number[], number[], number[]];
    expect(Math.abs(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))).toBeGreaterThan(1e-3);
    await draw(pipeline, { steps: 3 });
    expect(predictions[5]?.latents).toEqual(predictions[2]?.latents);
  });

  it("embeds the guidance if the network supports it, and predicts only with the prompt", async () => {
    const { pipeline, predictions } = makePipeline("LCMScheduler", { guidanceWidth: 4 });
    const { promptTokens } = await draw(pipeline, { guidance_scale: 1, negative_prompt: "blue" });
    expect(predictions.map(({ embeddings }) => embeddings)).toEqual([1, 1, 1, 1]);
    expect([...(predictions[0]?.context.guidance ?? [])]).toEqual([0, 0, 1, 1]);
    expect(promptTokens).toBe(2);
  });

  it("stops predicting after it is aborted", async () => {
    const { pipeline, predictions, decoded } = makePipeline("DDIMScheduler");
    const controller = new AbortController();
    const onProgress = (): void => {
      if (predictions.length === 3) controller.abort(new Error("enough"));
    };
    await expect(draw(pipeline, { steps: 10 }, onProgress, controller.signal)).rejects.toThrow("enough");
    expect([predictions.length, decoded.length]).toEqual([3, 0]);
  });

  it("stops when aborted between two steps or after the last", async () => {
    for (const abortAt of [2, 10]) {
      const { pipeline, predictions, decoded } = makePipeline("DDIMScheduler");
      const controller = new AbortController();
      const onProgress = (): void => {
        // The abort comes in another turn of the event loop, as messages of the agent do.
        if (predictions.length === abortAt) setImmediate(() => controller.abort(new Error("enough")));
      };
      await expect(draw(pipeline, { steps: 10 }, onProgress, controller.signal)).rejects.toThrow("enough");
      expect([predictions.length, decoded.length]).toEqual([abortAt, 0]);
    }
  });
});
