import type {
  DepthEstimationPipeline,
  ImageSegmentationPipeline,
  ObjectDetectionPipeline,
} from "@huggingface/transformers";
import { decodePicture, encodeGreyPng } from "./picture.ts";
import type { TaskAnswerer } from "./task-answer.ts";

/** The tasks that look at a picture and write no text. */

export const detectObjects: TaskAnswerer<"object-detection", ObjectDetectionPipeline> = async (pipe, input) => {
  const found = await pipe(await decodePicture(input.image), { threshold: input.threshold });
  const objects = found.map(({ label, score, box: { xmin, ymin, xmax, ymax } }) => ({
    label,
    score,
    box: { xmin, ymin, xmax, ymax },
  }));
  return { output: objects.sort((a, b) => b.score - a.score) };
};

export const segmentPicture: TaskAnswerer<"image-segmentation", ImageSegmentationPipeline> = async (pipe, input) => {
  const segments = await pipe(await decodePicture(input.image), { threshold: input.threshold });
  const output = [];
  for (const { label, score, mask } of segments) {
    output.push({ label, score, mask: { format: "png" as const, data: await encodeGreyPng(mask) } });
  }
  return { output };
};

export const estimateDepth: TaskAnswerer<"depth-estimation", DepthEstimationPipeline> = async (pipe, input) => {
  const { depth } = await pipe(await decodePicture(input.image));
  const { width, height } = depth;
  return { output: { width, height, depth: { format: "png", data: await encodeGreyPng(depth) } } };
};
