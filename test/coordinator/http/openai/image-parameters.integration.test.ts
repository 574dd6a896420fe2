import type { OpenAI } from "openai";
import { CARGOS, makeCargo } from "../api-catalog.ts";
import { DONE } from "../scripted-jobs.ts";
import { describeParameters } from "./parameter-cases.ts";

const painter = (slug: string, workloadId: number) =>
  makeCargo({ slug, workloadId, runtimeType: "diffusers", onnxTaskType: null, isChat: false });

/** Every parameter of the official client. The type makes the list complete. */
const OFFICIAL: Required<{ [Name in keyof OpenAI.ImageGenerateParams]: unknown }> = {
  prompt: "a ship",
  model: "other-painter",
  n: 2,
  size: "64x128",
  response_format: "b64_json",
  output_format: "png",
  output_compression: 50,
  quality: "hd",
  style: "vivid",
  background: "transparent",
  moderation: "high",
  partial_images: 2,
  stream: true,
  complexity: "high",
  frame_count: 2,
  frame_duration_ms: 100,
  svg: { model: "a" },
  user: "someone",
  safety_identifier: "someone",
};
const OURS = { negative_prompt: "a whale", steps: 3, guidance_scale: 2, seed: 4 };

describeParameters({
  endpoint: "POST /images/generations",
  base: { prompt: "an atoll", model: "painter" },
  samples: { ...OFFICIAL, ...OURS },
  // These values are the default behaviour.
  unseen: ["response_format", "output_format"],
  arrange: (api) => {
    api.catalog.replace([...CARGOS, painter("painter", 20), painter("other-painter", 21)]);
    api.jobs.onSubmit = (feed) => {
      feed.push([{ type: "image", format: "png", data: "AAAA" }]);
      feed.end({ ...DONE, output: { format: "png", data: "AAAA" } });
    };
  },
});
