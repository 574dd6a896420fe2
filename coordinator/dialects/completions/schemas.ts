import { z } from "@hono/zod-openapi";
import { MAX_ASKED_TOKENS, samplingFields } from "../../../shared/chat-input.ts";
import { FINISH_REASONS } from "../../../shared/output.ts";
import { OPENAI_LABEL, refused, requestObject } from "../../../shared/request-object.ts";
import { streamErrorSchema, streamOptionsSchema } from "../../http/schemas/chat-schemas.ts";
import { givenFieldsOf } from "../../http/schemas/given-fields.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { costSchema } from "../../http/schemas/wire-units.ts";

/** Each is a job of its own. */
const MAX_PROMPTS = 16;
/** Source: OpenAI's API. */
const DEFAULT_TOKENS = 16;

const promptSchema = z.string().min(1, "must not be empty");
const { response_format: _, max_tokens: __, ...sampling } = samplingFields;
const ONE_CHOICE = refused("a prompt has one choice", [1]);

/** Body of a legacy completion of text. `null` means "not given". Source: OpenAI's API. */
export const textCompletionBodySchema = requestObject({
  model: z.string().min(1).describe("Slug or alias of a chat Cargo"),
  prompt: z
    .union([promptSchema, z.array(promptSchema).min(1).max(MAX_PROMPTS)], {
      error: `must be a text, or a list of 1 to ${MAX_PROMPTS} texts; ids of tokens are not taken`,
    })
    .describe(
      "Continued as it is, without the model's chat template. A list: one job for each text, four at once; lists of tokens are refused",
    ),
  max_tokens: z.int().min(1).max(MAX_ASKED_TOKENS).nullish().describe(`Default ${DEFAULT_TOKENS}; lowered as in chats`),
  ...sampling,
  echo: z.boolean().nullish().describe("Begin each text with its prompt"),
  stream: z.boolean().nullish().describe("For one prompt"),
  stream_options: streamOptionsSchema.nullish(),
  suffix: refused("models continue a text and do not fill gaps", [""]),
  n: ONE_CHOICE,
  best_of: ONE_CHOICE,
  logprobs: refused("only `POST /chat/completions` and `POST /responses` give probabilities"),
  user: OPENAI_LABEL,
})
  .refine(({ stream, prompt }) => stream !== true || typeof prompt === "string" || prompt.length === 1, {
    message: "is served for one prompt; send the others in requests of their own",
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
    usage: usageSchema.optional().describe("Of a stream: in its last chunk, if it was asked for"),
  })
  .openapi("TextCompletion");

export const textCompletionEventSchema = z
  .union([
    textCompletionSchema,
    streamErrorSchema,
    z.literal("[DONE]").describe("The literal text, not JSON: the answer is complete"),
  ])
  .openapi("TextCompletionEvent");

export function promptsOf({ prompt }: TextCompletionBody): readonly string[] {
  return typeof prompt === "string" ? [prompt] : prompt;
}

/** The input of the job of one prompt, without fields that are `null` or not given. */
export function rawInputOf(prompt: string, body: TextCompletionBody): JobInput {
  const given = givenFieldsOf(body, sampling);
  return { prompt, raw: true, ...given, max_tokens: body.max_tokens ?? DEFAULT_TOKENS };
}
