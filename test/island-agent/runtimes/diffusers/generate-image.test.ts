import { describe, expect, it } from "vitest";
import type { DenoiserContext } from "../../../../island-agent/runtimes/diffusers/denoiser.ts";
import { generateImage } from "../../../../island-agent/runtimes/diffusers/generate-image.ts";
import type { ImageJob } from "../../../../island-agent/runtimes/diffusers/image-input.ts";
import type { ImagePipeline } from "../../../../island-agent/runtimes/diffusers/image-pipeline.ts";
import { encodePng } from "../../../support/models/test-images.ts";
import { readSchedulerConfig } from "../../../../island-agent/runtimes/diffusers/samplers/scheduler-config.ts";

const NEVER = new AbortController().signal;
interface Asked {
  readonly latents: Float32Array;
  readonly timestep: number;
  readonly embeddings: number;
  readonly context: DenoiserContext;
}

/** A pipeline whose network says nothing but zeros and whose decoder gives its latents; it notes what it is asked. */
function makePipeline(className: string, overrides: object = {}) {
  const asked: Asked[] = [];
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
        asked.push({ latents, timestep, embeddings: embeddings.length, context });
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
  return { pipeline, asked, decoded };
}

const draw = (pipeline: ImagePipeline, job: Partial<ImageJob> = {}, onProgress = () => {}, signal = NEVER) =>
  generateImage(pipeline, { job: { prompt: "red", ...job }, seed: 7, onProgress, signal });

function deviationOf(numbers: Float32Array): number {
  return Math.sqrt(numbers.reduce((sum, x) => sum + x * x, 0) / numbers.length);
}

describe("generateImage()", () => {
  it.each([["EulerDiscreteScheduler"], ["DDIMScheduler"], ["LCMScheduler"]])(
    "begins with what %s was trained on: noise of deviation 1, in the network's scale",
    async (className) => {
      const { pipeline, asked } = makePipeline(className);
      await draw(pipeline, { steps: 4 });
      expect(asked[0]?.latents).toHaveLength(4 * 32 * 16);
      expect(deviationOf(asked[0]?.latents ?? new Float32Array())).toBeCloseTo(1, 1);
    },
  );

  it("asks at the sampler's times, with and without the prompt, and tells the size in pixels", async () => {
    const { pipeline, asked } = makePipeline("DDIMScheduler");
    await draw(pipeline, { steps: 2, height: 64 });
    expect(asked.map(({ timestep }) => timestep)).toEqual([500, 0]);
    expect(asked.map(({ embeddings }) => embeddings)).toEqual([2, 2]);
    expect(asked[0]?.context).toEqual({
      latentSize: { width: 32, height: 8 },
      imageSize: { width: 256, height: 64 },
      guidance: null,
      scale: 7.5,
      extraChannels: null,
    });
  });

  it("shows a network for inpainting the mask, and the latents of the image without what is to be painted", async () => {
    const encoded: Float32Array[] = [];
    const encode = async (pixels: Float32Array): Promise<Float32Array> => {
      encoded.push(pixels);
      return new Float32Array(4 * 8 * 8).fill(encoded.length);
    };
    const { pipeline, asked } = makePipeline("DDIMScheduler", { openEncoder: async () => ({ encode }) });
    Object.assign(pipeline.denoiser, { isInpainting: true });
    const box = (left: number) => ({ colour: "white" as const, left, top: 0, right: 64, bottom: 64 });
    const [image, mask] = [box(0), box(32)].map((painted) => encodePng(64, 64, [painted]).toString("base64"));
    await draw(pipeline, { steps: 2, width: 64, height: 64, image, mask_image: mask });
    expect(encoded.map((pixels) => new Set(pixels))).toEqual([new Set([1]), new Set([1, 0])]);
    const extra = [...(asked[0]?.context.extraChannels ?? [])];
    expect(extra.slice(0, 8)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect(extra.slice(64)).toEqual(Array(4 * 64).fill(2));
    for (const without of ["image", "mask_image"]) {
      const job = { image, mask_image: mask, [without]: undefined };
      await expect(draw(pipeline, job)).rejects.toMatchObject({ code: "invalid_input" });
    }
  });

  it("draws each step of a consistency model with noise of its own, the same each time", async () => {
    const { pipeline, asked } = makePipeline("LCMScheduler");
    await draw(pipeline, { steps: 3 });
    // Latents of all three steps, were they sums of two noises, would lie in a plane.
    const [[a = 0, b = 0, c = 0], [d = 0, e = 0, f = 0], [g = 0, h = 0, i = 0]] = asked.map(({ latents }) => {
      const scale = deviationOf(latents);
      return [...latents.slice(0, 3)].map((latent) => latent / scale);
    }) as [number[], number[], number[]];
    expect(Math.abs(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))).toBeGreaterThan(1e-3);
    await draw(pipeline, { steps: 3 });
    expect(asked[5]?.latents).toEqual(asked[2]?.latents);
  });

  it("embeds the guidance where the network takes it, and asks with the prompt alone", async () => {
    const { pipeline, asked } = makePipeline("LCMScheduler", { guidanceWidth: 4 });
    const { promptTokens } = await draw(pipeline, { guidance_scale: 1, negative_prompt: "blue" });
    expect(asked.map(({ embeddings }) => embeddings)).toEqual([1, 1, 1, 1]);
    expect([...(asked[0]?.context.guidance ?? [])]).toEqual([0, 0, 1, 1]);
    expect(promptTokens).toBe(2);
  });

  it("asks for nothing more once it is aborted", async () => {
    const { pipeline, asked, decoded } = makePipeline("DDIMScheduler");
    const controller = new AbortController();
    const onProgress = (): void => {
      if (asked.length === 3) controller.abort(new Error("enough"));
    };
    await expect(draw(pipeline, { steps: 10 }, onProgress, controller.signal)).rejects.toThrow("enough");
    expect([asked.length, decoded.length]).toEqual([3, 0]);
  });

  it("hears an abort between two steps, and after the last", async () => {
    for (const abortAt of [2, 10]) {
      const { pipeline, asked, decoded } = makePipeline("DDIMScheduler");
      const controller = new AbortController();
      const onProgress = (): void => {
        // As a message of the agent comes: in another turn of the event loop.
        if (asked.length === abortAt) setImmediate(() => controller.abort(new Error("enough")));
      };
      await expect(draw(pipeline, { steps: 10 }, onProgress, controller.signal)).rejects.toThrow("enough");
      expect([asked.length, decoded.length]).toEqual([abortAt, 0]);
    }
  });
});
