import type { ParameterRule } from "./parameters.ts";

/** Parameters of `POST /images/generations`. Source of the names: OpenAI's API; below them additions of other servers. */
export const IMAGE_PARAMETERS: readonly ParameterRule[] = [
  { name: "prompt", rule: "honoured", note: "" },
  {
    name: "model",
    rule: "honoured",
    note: "a Cargo of diffusers, or of coreml with the task text-to-image; default: `default_image_cargo`",
  },
  { name: "n", rule: "honoured", note: "1 to 10, default 1; a job for each picture, one after the other" },
  {
    name: "size",
    rule: "honoured",
    note: "`auto` (default: the Cargo's own) or width and height, as in `512x512`; another than the Cargo can draw is 422",
  },
  {
    name: "response_format",
    rule: "honoured",
    note: "`b64_json` (default); `url` is refused: pictures have no address",
  },
  { name: "output_format", rule: "honoured", note: "`png` (default); `jpeg` and `webp` are refused: Islands draw PNG" },
  { name: "output_compression", rule: "refused", note: "PNG loses nothing", neutral: [100] },
  { name: "quality", rule: "refused", note: "use `steps`", neutral: ["auto", "standard"] },
  { name: "style", rule: "refused", note: "say it in the prompt" },
  { name: "background", rule: "refused", note: "pictures are opaque", neutral: ["auto", "opaque"] },
  {
    name: "moderation",
    rule: "refused",
    note: "nothing is moderated; ask `POST /moderations`",
    neutral: ["auto", "low"],
  },
  { name: "partial_images", rule: "refused", note: "pictures come whole", neutral: [0] },
  { name: "stream", rule: "refused", note: "pictures come whole", neutral: [false] },
  { name: "complexity", rule: "refused", note: "nothing is planned; use `steps`" },
  { name: "frame_count", rule: "refused", note: "pictures do not move" },
  { name: "frame_duration_ms", rule: "refused", note: "pictures do not move" },
  { name: "svg", rule: "refused", note: "Islands draw PNG" },
  { name: "user", rule: "hint", note: "a label for OpenAI" },
  { name: "safety_identifier", rule: "hint", note: "a label for OpenAI" },
  { name: "negative_prompt", rule: "honoured", note: "not OpenAI's; what not to draw" },
  { name: "steps", rule: "honoured", note: "not OpenAI's; steps of the sampler, default: the Cargo's" },
  { name: "guidance_scale", rule: "honoured", note: "not OpenAI's; how closely to follow the prompt" },
  {
    name: "seed",
    rule: "honoured",
    note: "not OpenAI's; 0 to 4294967295. Picture number i of n has the seed plus i, from 0",
  },
];
