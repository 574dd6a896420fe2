import type {
  DepthEstimationPipeline,
  ImageSegmentationPipeline,
  ObjectDetectionPipeline,
} from "@huggingface/transformers";
import { decodeImage, encodeGreyPng } from "../media/image-codec.ts";
import type { TaskAnswerer } from "./task-handler.ts";

/** The tasks that look at an image and write no text. */

export const detectObjects: TaskAnswerer<"object-detection", ObjectDetectionPipeline> = async (pipe, input) => {
  const found = await pipe(await decodeImage(input.image), { threshold: input.threshold });
  const objects = found.map(({ label, score, box: { xmin, ymin, xmax, ymax } }) => ({
    label,
    score,
    box: { xmin, ymin, xmax, ymax },
  }));
  return { output: objects.sort((a, b) => b.score - a.score) };
};

export const segmentImage: TaskAnswerer<"image-segmentation", ImageSegmentationPipeline> = async (pipe, input) => {
  const segments = await pipe(await decodeImage(input.image), { threshold: input.threshold });
  const output = [];
  for (const { label, score, mask } of segments) {
    output.push({ label, score, mask: { format: "png" as const, data: await encodeGreyPng(mask) } });
  }
  return { output };
};

export const estimateDepth: TaskAnswerer<"depth-estimation", DepthEstimationPipeline> = async (pipe, input) => {
  const { depth } = await pipe(await decodeImage(input.image));
  const { width, height } = depth;
  return { output: { width, height, depth: { format: "png", data: await encodeGreyPng(depth) } } };
};
