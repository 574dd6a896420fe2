import { z } from "@hono/zod-openapi";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { OPENAI_LABEL, refused, requestObject } from "../../../shared/request-object.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import { respondWithJson } from "../../http/middleware/json-response.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { runJob } from "../../http/streaming/whole-output.ts";
import { requestContextOf } from "../../http/streaming/request-context.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import type { LargeJson } from "../../store/jobs/large-json.ts";
import { givenFields } from "../../http/schemas/given-fields.ts";
import { presentUnixTime } from "../../http/schemas/wire-units.ts";
import { trustFields } from "../../http/schemas/trust-fields.ts";

const MAX_IMAGES = 10;
const MAX_SEED = 4_294_967_295;
const STILL = refused("only still images are generated");

/** Body of an image request. Source: OpenAI's API, and additions of other servers. */
const imagesBodySchema = requestObject({
  prompt: z.string().min(1, "must not be empty"),
  model: z
    .string()
    .min(1)
    .nullish()
    .describe("Slug or alias of an image Cargo. Default: the setting `default_image_cargo`"),
  n: z
    .int()
    .min(1)
    .max(MAX_IMAGES)
    .nullish()
    .describe("Number of images. Default: 1. Each image is a separate job; the jobs run one after the other"),
  size: z
    .string()
    .regex(/^(auto|[1-9]\d{1,3}x[1-9]\d{1,3})$/, 'must be "auto", or width and height in pixels as in "512x512"')
    .nullish()
    .describe(
      "Width and height, such as `512x512`, or `auto` for the Cargo's size, which is the default. A size that the Cargo does not support is refused with 422",
    ),
  response_format: z.literal("b64_json", "must be b64_json: images have no URL").nullish(),
  output_format: z.literal("png", "must be png: images are always PNG").nullish(),
  output_compression: refused("PNG is lossless", [100]),
  quality: refused("use `steps`", ["auto", "standard"]),
  style: refused("describe it in the prompt"),
  background: refused("images are always opaque", ["auto", "opaque"]),
  moderation: refused("images are not moderated; use `POST /moderations`", ["auto", "low"]),
  partial_images: refused("images are returned only when complete", [0]),
  stream: refused("images are returned only when complete", [false]),
  complexity: refused("use `steps`"),
  frame_count: STILL,
  frame_duration_ms: STILL,
  svg: refused("images are always PNG"),
  user: OPENAI_LABEL,
  safety_identifier: OPENAI_LABEL,
  negative_prompt: z.string().nullish().describe("What the image should not show. Not part of OpenAI's API"),
  steps: z
    .int()
    .min(1)
    .nullish()
    .describe("Number of sampler steps. Default: that of the Cargo. Not part of OpenAI's API"),
  guidance_scale: z
    .number()
    .min(0)
    .nullish()
    .describe("How closely the image follows the prompt. Not part of OpenAI's API"),
  seed: z
    .int()
    .min(0)
    .max(MAX_SEED)
    .nullish()
    .describe(
      "The same seed gives the same image. Image i of n, counted from 0, uses the seed plus i. Not part of OpenAI's API",
    ),
  ...trustFields,
}).openapi("ImagesRequest");
type ImagesBody = z.infer<typeof imagesBodySchema>;

const imagesSchema = z
  .object({
    created: z.int().describe("Unix time in seconds"),
    data: z.array(z.object({ b64_json: z.string().describe("The image file in base64") })),
    output_format: z.literal("png"),
    usage: z.object({
      input_tokens: z.int(),
      input_tokens_details: z.object({ text_tokens: z.int(), image_tokens: z.int() }),
      output_tokens: z.int().describe("Always 0: images have no tokens"),
      total_tokens: z.int(),
    }),
  })
  .openapi("Images");

function imageInputOf(body: ImagesBody, index: number): JobInput {
  const { prompt, size, negative_prompt, steps, guidance_scale, seed } = body;
  const [width, height] = size == null || size === "auto" ? [] : size.split("x").map(Number);
  return givenFields({
    prompt,
    negative_prompt,
    width,
    height,
    steps,
    guidance_scale,
    seed: seed == null ? null : (seed + index) % (MAX_SEED + 1),
  });
}

/** Maximum number of widths, and of heights, that an error message lists. */
const MAX_SHOWN = 12;

/** Checks the size if the Cargo's schema lists sizes. @throws {ValidationError} naming the supported sizes */
function assertSize({ size }: Pick<ImagesBody, "size">, schema: Readonly<Record<string, unknown>>): void {
  if (size == null || size === "auto") return;
  const properties = schema["properties"] as Record<string, { readonly enum?: readonly unknown[] }> | undefined;
  const widths = properties?.["width"]?.enum;
  const heights = properties?.["height"]?.enum;
  if (widths === undefined || heights === undefined) return;
  const [width, height] = size.split("x").map(Number);
  if (widths.includes(width) && heights.includes(height)) return;
  const isOne = widths.length * heights.length === 1;
  const supported = isOne
    ? `"${String(widths[0])}x${String(heights[0])}"`
    : `a width of ${listOf(widths)} and a height of ${listOf(heights)}`;
  throw new ValidationError([
    { path: "size", message: `must be "auto" or ${supported} for this Cargo, got "${size}"` },
  ]);
}

function listOf(values: readonly unknown[]): string {
  return values.slice(0, MAX_SHOWN).join(", ") + (values.length > MAX_SHOWN ? ", …" : "");
}

function imageFieldOf(path: string): string {
  return path === "width" || path === "height" ? "size" : path;
}

export const imageRoutes = routeGroup("/images", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("/generations", {
    id: "createImages",
    is: "Generate images from a text",
    about:
      "An image Cargo generates each image as a separate job, one after the other. If the client disconnects, the jobs are cancelled.",
    ...WAITS_FOR_JOBS,
    body: imagesBodySchema,
    responses: { 200: json(imagesSchema, "The images, in the order of their seeds") },
  })(async (call) => {
    const { c, identity, body } = call;
    const { slug, inputSchema } = await findModelFor("image", deps.catalog, body.model, identity.accountId);
    assertSize(body, inputSchema);
    const client = requestContextOf(call);
    const created = presentUnixTime(deps.clock.now());
    const data: { b64_json: string | LargeJson }[] = [];
    let tokens = 0;
    for (let index = 0; index < (body.n ?? 1); index += 1) {
      // The jobs run one after the other: an account may have few unfinished jobs.
      const job = await runJob(deps, client, { slug, input: imageInputOf(body, index), fieldOf: imageFieldOf });
      if (job === null) return null;
      const image = job.feed.items.findLast(({ type }) => type === "image");
      if (image?.type !== "image") throw new ServiceError("job_failed", "The Cargo's output has no image");
      data.push({ b64_json: image.data });
      tokens += job.ending.usage.promptTokens;
    }
    const details = { text_tokens: tokens, image_tokens: 0 };
    const usage = { input_tokens: tokens, input_tokens_details: details, output_tokens: 0, total_tokens: tokens };
    return respondWithJson(c, identity, { created, data, output_format: "png", usage });
  });
});
