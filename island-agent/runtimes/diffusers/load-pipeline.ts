import { randomInt } from "node:crypto";
import path from "node:path";
import { type ExecutionProvider, gpuMemoryOf, providersFor } from "../onnx/execution-providers.ts";
import type { HostedModel } from "../host/serve-host.ts";
import { onnxFailure } from "../onnx/onnx-failure.ts";
import { drawPicture } from "./draw-picture.ts";
import type { LoadOrder } from "./host-requests.ts";
import { openOnBest } from "./open-on-best.ts";
import type { PictureJob } from "./picture-input.ts";
import { findPipeline } from "./pipeline-files.ts";
import { openPipeline, type PicturePipeline } from "./picture-pipeline.ts";
import { encodePng } from "./png.ts";

/** Seeds that are chosen are in the shipped Cargos' range. */
const SEEDS = 2 ** 32;

/** Brings a pipeline into memory that draws one picture at a time. @throws {JobFailure} */
export async function loadPipeline(order: LoadOrder): Promise<HostedModel<PictureJob>> {
  const files = await findPipeline(order.modelPath, order.weights);
  const { threads, device, modelPath } = order;
  const open = (providers: readonly ExecutionProvider[]): Promise<PicturePipeline> =>
    openPipeline(files, { modelPath, providers, threads });
  const { opened: pipeline, providers, refused } = await openOnBest(open, await providersFor(device), device);
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
      const seed = job.seed ?? randomInt(SEEDS);
      try {
        const { picture, promptTokens } = await drawPicture(pipeline, { job, seed, onProgress, signal });
        const output = { format: "png", data: await encodePng(picture) };
        onOutput({ type: "image", ...output });
        return { output, finishReason: "stop", usage: { promptTokens, completionTokens: 0 } };
      } catch (error) {
        throw onnxFailure("model_invalid", "The picture could not be drawn", error, modelPath);
      }
    },
    dispose: () => pipeline.dispose(),
  };
}
