import { randomInt } from "node:crypto";
import path from "node:path";
import { type ExecutionProvider, gpuMemoryOf, providersFor } from "../onnx/execution-providers.ts";
import type { HostedModel } from "../host/serve-host.ts";
import { onnxFailure } from "../onnx/onnx-failure.ts";
import { generateImage } from "./generate-image.ts";
import type { LoadRequest } from "./host-requests.ts";
import { openWithCpuFallback } from "./cpu-fallback.ts";
import type { ImageJob } from "./image-input.ts";
import { findPipeline } from "./pipeline-files.ts";
import { openPipeline, type ImagePipeline } from "./image-pipeline.ts";
import sharp from "sharp";
import { JobFailure } from "../../../shared/errors.ts";
import type { Image } from "./latent-decoder.ts";

/** Maximum size of a PNG, which as base64 still fits into one frame (shared/protocol/codec.ts). */
const MAX_PNG_BYTES = 6_000_000;

/** Range of random seeds, as in the shipped Cargos. */
const SEED_RANGE = 2 ** 32;

/** Loads a pipeline, which generates one image at a time. @throws {JobFailure} */
export async function loadPipeline(request: LoadRequest): Promise<HostedModel<ImageJob>> {
  const files = await findPipeline(request.modelPath, request.weights);
  const { threads, device, modelPath } = request;
  const open = (providers: readonly ExecutionProvider[]): Promise<ImagePipeline> =>
    openPipeline(files, { modelPath, providers, threads });
  const { opened: pipeline, providers, refused } = await openWithCpuFallback(open, await providersFor(device), device);
  const { plan } = pipeline;
  return {
    facts: {
      scheduler: plan.className,
      sampler: plan.name,
      graphs: [...files.textEncoders, files.denoiser, files.decoder].map((graph) =>
        path.relative(modelPath, graph.path),
      ),
      providers,
      ...(refused === null ? {} : { refused }),
      threads,
    },
    gpuMemory: gpuMemoryOf(providers, files.bytes),
    async run({ job }, onOutput, signal) {
      const onProgress = (step: number, total: number): void => onOutput({ type: "progress", step, total });
      const seed = job.seed ?? randomInt(SEED_RANGE);
      try {
        const { image, promptTokens } = await generateImage(pipeline, { job, seed, onProgress, signal });
        const output = { format: "png", data: await encodePng(image) };
        onOutput({ type: "image", ...output });
        return { output, finishReason: "stop", usage: { promptTokens, completionTokens: 0 } };
      } catch (error) {
        throw onnxFailure("model_invalid", "The image could not be generated", error, modelPath);
      }
    },
    dispose: () => pipeline.dispose(),
  };
}

sharp.concurrency(1);

sharp.cache(false);

/** Encodes a PNG file in base64, the same bytes for the same pixels. @throws {JobFailure} `output_too_large` */
async function encodePng({ width, height, rgb }: Image): Promise<string> {
  const png = await sharp(rgb, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  if (png.length <= MAX_PNG_BYTES) return png.toString("base64");
  const message = `The image of ${width} by ${height} pixels takes ${png.length} bytes as PNG, but at most ${MAX_PNG_BYTES} are allowed`;
  throw new JobFailure("output_too_large", message);
}
