import { z } from "@hono/zod-openapi";
import {
  DEFAULT_OUTPUT_TOKENS,
  LOWERED_TOKENS,
  MAX_REQUESTED_TOKENS,
  samplingFields,
  type ResponseFormat,
} from "../../../shared/chat-input.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { REASONING_EFFORTS } from "../../../shared/reasoning.ts";
import {
  EARLIER_REASONING,
  ignored,
  ignoredEntry,
  OPENAI_LABEL,
  OPENAI_PRICE,
  refused,
  requestObject,
} from "../../../shared/request-object.ts";
import { probabilityFields } from "../../../shared/token-probability.ts";
import { effortSchema } from "../../http/schemas/chat-schemas.ts";
import { givenFields } from "../../http/schemas/given-fields.ts";
import { responseInputSchema, turnsOf, type Item, type Turn } from "./items.ts";
import { outputItemSchema, reasoningPartSchema, responseLogprobsSchema, textPartSchema } from "./output.ts";
import {
  namespacedFunctions,
  namespacedFunctionSchema,
  offeredFunctions,
  presentedToolsSchema,
  responseToolFields,
  responseToolInputOf,
} from "./tools.ts";
import { toolPathOf } from "../../http/schemas/offered-tools.ts";
import { costSchema } from "../../http/schemas/wire-units.ts";
import { trustFields } from "../../http/schemas/trust-fields.ts";

const formatSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  requestObject({
    type: z.literal("json_schema"),
    name: z.string().max(64).describe("Used only in error messages"),
    description: ignored("not sent to the model"),
    schema: z.record(z.string(), z.unknown()).describe("Same as in `response_format` of a chat"),
    strict: z.boolean().nullish().describe("Same as in `response_format` of a chat"),
  }),
]);
type Format = z.infer<typeof formatSchema>;

const metadataSchema = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((entries) => Object.keys(entries).length <= 16, "must have at most 16 entries");

const TEXT_LOGPROBS = "message.output_text.logprobs";
/** Value of `include` that has no effect: every `reasoning` item already has this member. */
const ENCRYPTED_REASONING = "reasoning.encrypted_content";
/** Values of OpenAI's `include` for members that responses of Atoll never contain. */
const NEVER_INCLUDED: readonly string[] = [
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
];
const includableSchema = ignoredEntry(
  z.enum([TEXT_LOGPROBS, ENCRYPTED_REASONING, ...NEVER_INCLUDED]),
  `values of OpenAI's API other than \`${TEXT_LOGPROBS}\` and \`${ENCRYPTED_REASONING}\``,
  (name) => NEVER_INCLUDED.some((other) => other === name),
);
const WHOLE_REASONING = ignored("reasoning is always returned in full, as `reasoning` items");

/** Body of a response. Source: OpenAI's API. */
export const responseBodySchema = requestObject({
  model: z.string().min(1).nullish().describe("Default: the operator's default chat Cargo"),
  input: responseInputSchema,
  instructions: z.string().nullish(),
  previous_response_id: z
    .string()
    .max(200)
    .nullish()
    .describe(
      "Id of a stored response that is completed or incomplete. Its conversation, without its instructions, precedes `input`",
    ),
  max_output_tokens: z
    .int()
    .min(1)
    .max(MAX_REQUESTED_TOKENS)
    .nullish()
    .describe(`Default ${DEFAULT_OUTPUT_TOKENS}. ${LOWERED_TOKENS}`),
  temperature: samplingFields.temperature,
  top_p: samplingFields.top_p,
  text: requestObject({
    format: formatSchema.nullish(),
    verbosity: ignored("ask for it in `instructions`", ["medium"]),
  }).nullish(),
  ...responseToolFields,
  max_tool_calls: ignored("limits built-in tools, which are not available"),
  include: z
    .array(includableSchema)
    .max(10)
    .nullish()
    .describe(`\`${ENCRYPTED_REASONING}\` has an effect only for Cargos with reasoning`),
  top_logprobs: probabilityFields.top_logprobs,
  reasoning: requestObject({
    effort: effortSchema
      .nullish()
      .describe("Effort of reasoning. A Cargo without reasoning ignores it, and `Atoll-Ignored` names it"),
    summary: WHOLE_REASONING,
    generate_summary: WHOLE_REASONING,
    context: EARLIER_REASONING,
    mode: ignored("only one mode is available", ["standard"]),
  }).nullish(),
  stream: z.boolean().nullish(),
  stream_options: refused("events are never padded", [{}, { include_obfuscation: false }]),
  store: z.boolean().nullish().describe("Whether input and output stay stored when the response ends. Default: true"),
  background: z
    .boolean()
    .nullish()
    .describe(
      "Return at once and run without the client, which polls `GET /responses/{id}`. Cannot be combined with `stream` or `store: false`",
    ),
  metadata: metadataSchema.nullish().describe("At most 16 entries"),
  truncation: ignored("prompts are never truncated; one that is too long is refused", ["disabled"]),
  conversation: refused("use `previous_response_id`"),
  prompt: refused("prompts are not stored"),
  context_management: ignored("conversations are never compacted", [[]]),
  moderation: refused("use `POST /moderations`"),
  image: refused("responses are always text"),
  access_programs: refused("access programs are not supported"),
  client_metadata: OPENAI_LABEL,
  user: OPENAI_LABEL,
  safety_identifier: OPENAI_LABEL,
  ...trustFields,
  service_tier: ignored("only one tier is available", ["auto", "default"]),
  prompt_cache_key: OPENAI_PRICE,
  prompt_cache_options: OPENAI_PRICE,
  prompt_cache_retention: OPENAI_PRICE,
})
  .refine(({ background, stream, store }) => background !== true || (stream !== true && store !== false), {
    message: "cannot be combined with stream, or with store: false",
    path: ["background"],
  })
  .openapi("ResponseRequest");
export type ResponseBody = z.infer<typeof responseBodySchema>;

/** Error codes of a response. OpenAI sends `context_length_exceeded` without documenting it; Codex then compacts. */
const RESPONSE_ERRORS = ["server_error", "invalid_prompt", "context_length_exceeded"] as const;
const RESPONSE_STATES = ["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"] as const;

export const responseSchema = z
  .object({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.int(),
    status: z.enum(RESPONSE_STATES),
    background: z.boolean(),
    error: z.object({ code: z.enum(RESPONSE_ERRORS), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.literal("max_output_tokens") }).nullable(),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    metadata: metadataSchema,
    model: z.string(),
    output: z.array(outputItemSchema),
    ...presentedToolsSchema.shape,
    previous_response_id: z.string().nullable(),
    reasoning: z.object({ effort: z.enum(REASONING_EFFORTS).nullable(), summary: z.null() }),
    store: z.boolean(),
    temperature: z.number().nullable(),
    text: z.object({ format: formatSchema }),
    top_logprobs: z.int(),
    top_p: z.number().nullable(),
    truncation: z.literal("disabled"),
    usage: z
      .object({
        input_tokens: z.int(),
        input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
        output_tokens: z.int(),
        output_tokens_details: z.object({ reasoning_tokens: z.int() }),
        total_tokens: z.int(),
        cost: costSchema,
      })
      .nullable(),
  })
  .openapi("OpenAiResponse");
export type OpenAiResponse = z.infer<typeof responseSchema>;

const ofCall = { item_id: z.string(), output_index: z.int() };
const inItem = { ...ofCall, content_index: z.int() };
const logprobs = { logprobs: responseLogprobsSchema };
const partSchema = z.discriminatedUnion("type", [textPartSchema, reasoningPartSchema]);
const ofResponse = ["created", "in_progress", "completed", "incomplete", "failed"] as const;
const ofItem = ["added", "done"] as const;

const eventSchema = (type: string, members: z.ZodRawShape) =>
  z.object({ type: z.literal(type), sequence_number: z.int(), ...members });

export const responseEventSchema = z
  .union([
    ...ofResponse.map((name) => eventSchema(`response.${name}`, { response: responseSchema })),
    ...ofItem.map((name) =>
      eventSchema(`response.output_item.${name}`, { output_index: z.int(), item: outputItemSchema }),
    ),
    ...ofItem.map((name) => eventSchema(`response.content_part.${name}`, { ...inItem, part: partSchema })),
    eventSchema("error", { code: z.string(), message: z.string(), param: z.null() }),
    eventSchema("response.reasoning_text.delta", { ...inItem, delta: z.string() }),
    eventSchema("response.reasoning_text.done", { ...inItem, text: z.string() }),
    eventSchema("response.output_text.delta", { ...inItem, delta: z.string(), ...logprobs }),
    eventSchema("response.output_text.done", { ...inItem, text: z.string(), ...logprobs }),
    eventSchema("response.function_call_arguments.delta", { ...ofCall, delta: z.string() }),
    eventSchema("response.function_call_arguments.done", { ...ofCall, name: z.string(), arguments: z.string() }),
  ])
  .openapi("OpenAiResponseEvent");

/** Part of a job's input that stores fields of the response. Islands ignore it. */
export const jobPartSchema = z.object({
  response: z.object({
    previous_response_id: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    background: z.boolean(),
    store: z.boolean(),
    format: formatSchema,
    namespaced_functions: z.array(namespacedFunctionSchema).optional(),
  }),
});
export type JobPart = z.infer<typeof jobPartSchema>;

/**
 * Returns the input of the response's job.
 * @param before the conversation that the response continues
 */
export function responseInputOf(
  body: ResponseBody,
  input: string | readonly Item[],
  before: readonly Turn[],
): JobInput {
  const { instructions, text, tools } = body;
  const offered = offeredFunctions(tools);
  const namespaced = namespacedFunctions(offered);
  const messages = typeof input === "string" ? [{ role: "user", content: input }] : turnsOf(input);
  const format = text?.format ?? { type: "text" };
  const fields = givenFields({
    system_prompt: instructions,
    max_tokens: body.max_output_tokens,
    temperature: body.temperature,
    top_p: body.top_p,
    response_format: format.type === "text" ? undefined : chatFormatOf(format),
    ...responseToolInputOf(body, offered),
    ...logprobFieldsOf(body),
    reasoning_effort: body.reasoning?.effort,
  });
  const { response }: JobPart = {
    response: {
      previous_response_id: body.previous_response_id ?? null,
      metadata: body.metadata ?? {},
      background: body.background === true,
      store: body.store !== false,
      format,
      ...(namespaced.length === 0 ? {} : { namespaced_functions: namespaced }),
    },
  };
  return { messages: [...before, ...messages], ...fields, response };
}

/**
 * Returns the log probability fields. `include` requests them for chosen tokens, `top_logprobs` also for alternatives.
 */
function logprobFieldsOf({ include, top_logprobs: top }: ResponseBody): object {
  const isRequested = include?.includes(TEXT_LOGPROBS) === true || (top ?? 0) > 0;
  return isRequested ? { logprobs: true, top_logprobs: top ?? 0 } : {};
}

function chatFormatOf(format: Format): ResponseFormat {
  if (format.type !== "json_schema") return format;
  const { name, schema, strict } = format;
  return { type: "json_schema", json_schema: { name, schema, ...(strict == null ? {} : { strict }) } };
}

const FIELDS: readonly (readonly [from: RegExp, to: string])[] = [
  [/^messages.*/, "input"],
  [/^system_prompt/, "instructions"],
  [/^max_tokens/, "max_output_tokens"],
  [/^response_format(\.json_schema)?/, "text.format"],
  [/^(tools\.\d+)\.function/, "$1"],
  [/^reasoning_effort/, "reasoning.effort"],
  [/^(tool|top_logprobs)/, "$1"],
];

export function responseFieldOf({ tools }: ResponseBody, path: string): string {
  const [from, to] = FIELDS.find(([start]) => start.test(path)) ?? [/^/, ""];
  return toolPathOf(offeredFunctions(tools), path.replace(from, to));
}

/** Returns the paths of the parameters, except the effort, that a Cargo without reasoning ignores. */
export function reasoningHintsOf({ include }: ResponseBody): string[] {
  return (include ?? []).flatMap((name, index) => (name === ENCRYPTED_REASONING ? [`include[${index}]`] : []));
}
