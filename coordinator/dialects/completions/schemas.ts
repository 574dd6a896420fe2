import { z } from "@hono/zod-openapi";
import { MAX_REQUESTED_TOKENS, samplingFields } from "../../../shared/chat-input.ts";
import { FINISH_REASONS } from "../../../shared/output.ts";
import { OPENAI_LABEL, refused, requestObject } from "../../../shared/request-object.ts";
import { streamErrorSchema, streamOptionsSchema } from "../../http/schemas/chat-schemas.ts";
import { givenFieldsOf } from "../../http/schemas/given-fields.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { costSchema } from "../../http/schemas/wire-units.ts";

/** Maximum prompts of a request. Each is a separate job. */
const MAX_PROMPTS = 16;
/** Default of `max_tokens`. Source: OpenAI's API. */
const DEFAULT_TOKENS = 16;

const promptSchema = z.string().min(1, "must not be empty");
const { response_format: _, max_tokens: __, ...sampling } = samplingFields;
const ONE_CHOICE = refused("each prompt gets one choice", [1]);

/** Body of a legacy text completion. `null` means "not given". Source: OpenAI's API. */
export const textCompletionBodySchema = requestObject({
  model: z.string().min(1).describe("Slug or alias of a chat Cargo"),
  prompt: z
    .union([promptSchema, z.array(promptSchema).min(1).max(MAX_PROMPTS)], {
      error: `must be a string, or a list of 1 to ${MAX_PROMPTS} strings; token ids are not supported`,
    })
    .describe(
      "Continued without the model's chat template. A list of texts runs one job for each, four at once. Lists of token ids are refused",
    ),
  max_tokens: z
    .int()
    .min(1)
    .max(MAX_REQUESTED_TOKENS)
    .nullish()
    .describe(`Default ${DEFAULT_TOKENS}; lowered as in a chat`),
  ...sampling,
  echo: z.boolean().nullish().describe("Whether each text begins with its prompt"),
  stream: z.boolean().nullish().describe("Only with one prompt"),
  stream_options: streamOptionsSchema.nullish(),
  suffix: refused("fill-in-the-middle is not supported", [""]),
  n: ONE_CHOICE,
  best_of: ONE_CHOICE,
  logprobs: refused("use `POST /chat/completions` or `POST /responses` for log probabilities"),
  user: OPENAI_LABEL,
})
  .refine(({ stream, prompt }) => stream !== true || typeof prompt === "string" || prompt.length === 1, {
    message: "requires a single prompt; send the others in separate requests",
    path: ["stream"],
  })
  .openapi("TextCompletionRequest");
export type TextCompletionBody = z.infer<typeof textCompletionBodySchema>;

const usageSchema = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cost: costSchema,
});
const choiceSchema = z.object({
  index: z.int(),
  text: z.string(),
  logprobs: z.null(),
  finish_reason: z.enum(FINISH_REASONS).nullable(),
});

/** A completion, or a chunk of a streamed one. */
export const textCompletionSchema = z
  .object({
    id: z.string(),
    object: z.literal("text_completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(choiceSchema),
    usage: usageSchema.optional().describe("On a stream: only in the last chunk, if requested"),
  })
  .openapi("TextCompletion");

export const textCompletionEventSchema = z
  .union([
    textCompletionSchema,
    streamErrorSchema,
    z.literal("[DONE]").describe("The literal text, not JSON; the completion is complete"),
  ])
  .openapi("TextCompletionEvent");

export function promptsOf({ prompt }: TextCompletionBody): readonly string[] {
  return typeof prompt === "string" ? [prompt] : prompt;
}

/** Returns the input of the job of one prompt, without fields that are `null` or not given. */
export function rawInputOf(prompt: string, body: TextCompletionBody): JobInput {
  const given = givenFieldsOf(body, sampling);
  return { prompt, raw: true, ...given, max_tokens: body.max_tokens ?? DEFAULT_TOKENS };
}
