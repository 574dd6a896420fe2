import type {
  DepthEstimationPipeline,
  ImageSegmentationPipeline,
  ObjectDetectionPipeline,
} from "@huggingface/transformers";
import { decodeImage, encodeGrayscalePng } from "../media/image-codec.ts";
import type { TaskHandler } from "./task-handler.ts";

/** Tasks object-detection, image-segmentation and depth-estimation. */

export const objectDetection: TaskHandler<"object-detection", ObjectDetectionPipeline> = async (pipe, input) => {
  const found = await pipe(await decodeImage(input.image), { threshold: input.threshold });
  const objects = found.map(({ label, score, box: { xmin, ymin, xmax, ymax } }) => ({
    label,
    score,
    box: { xmin, ymin, xmax, ymax },
  }));
  return { output: objects.sort((a, b) => b.score - a.score) };
};

export const imageSegmentation: TaskHandler<"image-segmentation", ImageSegmentationPipeline> = async (pipe, input) => {
  const segments = await pipe(await decodeImage(input.image), { threshold: input.threshold });
  const output = [];
  for (const { label, score, mask } of segments) {
    output.push({ label, score, mask: { format: "png" as const, data: await encodeGrayscalePng(mask) } });
  }
  return { output };
};

export const depthEstimation: TaskHandler<"depth-estimation", DepthEstimationPipeline> = async (pipe, input) => {
  const { depth } = await pipe(await decodeImage(input.image));
  const { width, height } = depth;
  return { output: { width, height, depth: { format: "png", data: await encodeGrayscalePng(depth) } } };
};
