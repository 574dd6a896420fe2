import { z } from "@hono/zod-openapi";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import type { Usage } from "../../../shared/output.ts";
import { OPENAI_LABEL, refused, requestObject } from "../../../shared/request-object.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import { answerJson } from "../../http/middleware/json-answer.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { endedJob } from "../../http/streaming/whole-output.ts";
import { waitingClientOf } from "../../http/streaming/waiting-client.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import type { LargeJson } from "../../store/jobs/large-json.ts";
import { givenFields } from "../../http/schemas/given-fields.ts";
import { presentUnixTime } from "../../http/schemas/wire-units.ts";

/** Pictures of one request; each is a job of its own. */
const MAX_IMAGES = 10;
const MAX_SEED = 4_294_967_295;
const STILL = refused("pictures do not move");

/** Body of a request for pictures. `null` means "not given". Source: OpenAI's API, and additions of other servers. */
const imagesBodySchema = requestObject({
  prompt: z.string().min(1, "must not be empty"),
  model: z
    .string()
    .min(1)
    .nullish()
    .describe("Slug of a Cargo that draws, or an alias of one. Default: the operator's (default_image_cargo)"),
  n: z.int().min(1).max(MAX_IMAGES).nullish().describe("Default: 1. Each is a job of its own, one after the other"),
  size: z
    .string()
    .regex(/^(auto|[1-9]\d{1,3}x[1-9]\d{1,3})$/, 'must be "auto", or width and height in pixels as in "512x512"')
    .nullish()
    .describe(
      "`auto` (default: the Cargo's own) or width and height, as in `512x512`; another than the Cargo can draw is 422",
    ),
  response_format: z.literal("b64_json", "only b64_json is served: pictures have no address").nullish(),
  output_format: z.literal("png", "only png is served: Islands draw PNG").nullish(),
  output_compression: refused("PNG loses nothing", [100]),
  quality: refused("use `steps`", ["auto", "standard"]),
  style: refused("say it in the prompt"),
  background: refused("pictures are opaque", ["auto", "opaque"]),
  moderation: refused("nothing is moderated; ask `POST /moderations`", ["auto", "low"]),
  partial_images: refused("pictures come whole", [0]),
  stream: refused("pictures come whole", [false]),
  complexity: refused("nothing is planned; use `steps`"),
  frame_count: STILL,
  frame_duration_ms: STILL,
  svg: refused("Islands draw PNG"),
  user: OPENAI_LABEL,
  safety_identifier: OPENAI_LABEL,
  negative_prompt: z.string().nullish().describe("Not OpenAI's; what not to draw"),
  steps: z.int().min(1).nullish().describe("Not OpenAI's; steps of the sampler, default: the Cargo's"),
  guidance_scale: z.number().min(0).nullish().describe("Not OpenAI's; how closely to follow the prompt"),
  seed: z
    .int()
    .min(0)
    .max(MAX_SEED)
    .nullish()
    .describe("Not OpenAI's; the same seed draws the same picture. Picture number i of n has the seed plus i, from 0"),
}).openapi("ImagesRequest");
type ImagesBody = z.infer<typeof imagesBodySchema>;

const imagesSchema = z
  .object({
    created: z.int().describe("Unix time in seconds"),
    data: z.array(z.object({ b64_json: z.string().describe("The file in base64") })),
    output_format: z.literal("png"),
    usage: z.object({
      input_tokens: z.int(),
      input_tokens_details: z.object({ text_tokens: z.int(), image_tokens: z.int() }),
      output_tokens: z.int().describe("Always 0: pictures have no tokens here"),
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

/** Values of each side in a message. */
const MAX_SHOWN = 12;

/** @throws {ValidationError} naming the sizes of a Cargo whose schema lists widths and heights. */
function assertSize({ size }: Pick<ImagesBody, "size">, schema: Readonly<Record<string, unknown>>): void {
  if (size == null || size === "auto") return;
  const [widths, heights] = ["width", "height"].map((name) => valuesOf(schema, name));
  if (widths === undefined || heights === undefined) return;
  const [width, height] = size.split("x").map(Number);
  if (widths.includes(width) && heights.includes(height)) return;
  const isOne = widths.length * heights.length === 1;
  const takes = isOne
    ? `"${String(widths[0])}x${String(heights[0])}"`
    : `a width of ${listOf(widths)} and a height of ${listOf(heights)}`;
  throw new ValidationError([{ path: "size", message: `is "${size}"; this Cargo takes "auto" or ${takes}` }]);
}

function listOf(values: readonly unknown[]): string {
  return values.slice(0, MAX_SHOWN).join(", ") + (values.length > MAX_SHOWN ? ", …" : "");
}

/** Undefined for a member that the schema does not list the values of. */
function valuesOf({ properties }: Readonly<Record<string, unknown>>, name: string): readonly unknown[] | undefined {
  const member = (properties as Record<string, { readonly enum?: readonly unknown[] } | undefined> | undefined)?.[name];
  return member?.enum;
}

/** The request's field for a path of the job's input. */
function imageFieldOf(path: string): string {
  return path === "width" || path === "height" ? "size" : path;
}

/** A drawn picture: base64, in storage if it is large. */
interface DrawnImage {
  readonly data: string | LargeJson;
  readonly usage: Usage;
}

/** Large values in the answer are for `answerJson`. */
function presentImages(images: readonly DrawnImage[], createdMs: number): unknown {
  const tokens = images.reduce((sum, { usage }) => sum + usage.promptTokens, 0);
  return {
    created: presentUnixTime(createdMs),
    data: images.map(({ data }) => ({ b64_json: data })),
    output_format: "png",
    usage: {
      input_tokens: tokens,
      input_tokens_details: { text_tokens: tokens, image_tokens: 0 },
      output_tokens: 0,
      total_tokens: tokens,
    },
  };
}

export const imageRoutes = routeGroup("/images", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("/generations", {
    id: "createImages",
    is: "Draw pictures from a text",
    about:
      "In OpenAI's shape, by a Cargo that draws: one job for each picture, one after the other. Like a chat they wait for an Island and are cancelled when the client disconnects.",
    ...WAITS_FOR_JOBS,
    body: imagesBodySchema,
    answers: { 200: json(imagesSchema, "The pictures, in the order of their seeds") },
  })(async (call) => {
    const { c, identity, body } = call;
    const { slug, inputSchema } = await findModelFor("image", deps.catalog, body.model, identity.accountId);
    assertSize(body, inputSchema);
    const client = waitingClientOf(call);
    const createdMs = deps.clock.now();
    const images: DrawnImage[] = [];
    for (let index = 0; index < (body.n ?? 1); index += 1) {
      // One after the other: an account's unfinished jobs are few.
      const job = await endedJob(deps, client, { slug, input: imageInputOf(body, index), fieldOf: imageFieldOf });
      if (job === null) return null;
      const image = job.feed.items.findLast(({ type }) => type === "image");
      if (image?.type !== "image") throw new ServiceError("job_failed", "The Cargo made no picture");
      images.push({ data: image.data, usage: job.ending.usage });
    }
    return answerJson(c, identity, presentImages(images, createdMs));
  });
});
