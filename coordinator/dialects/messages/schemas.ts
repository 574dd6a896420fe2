import { z } from "@hono/zod-openapi";
import type { ContentPart } from "../../../shared/chat-images.ts";
import {
  contentOf,
  describeOtherPart,
  imageUrlSchema,
  LOWERED_TOKENS,
  MAX_REQUESTED_TOKENS,
  MAX_MESSAGES,
  samplingFields,
  textOf,
  withPartsLimit,
} from "../../../shared/chat-input.ts";
import type { Usage } from "../../../shared/output.ts";
import { largestEffort, type ReasoningEffort } from "../../../shared/reasoning.ts";
import {
  ANTHROPIC_PRICE,
  EARLIER_RESPONSE,
  EARLIER_REASONING,
  ignored,
  refused,
  requestObject,
} from "../../../shared/request-object.ts";
import type { FeedEnding } from "../../jobs/feed.ts";
import type { AssistantMessage } from "../../jobs/tool-calls.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { givenFields } from "../../http/schemas/given-fields.ts";
import { parseArguments, messageToolChoiceSchema, messageToolsSchema, toolInputOf } from "./tools.ts";
import { offeredTools, toolPathOf } from "../../http/schemas/offered-tools.ts";
import { trustFields } from "../../http/schemas/trust-fields.ts";
import { costSchema, presentCredits } from "../../http/schemas/wire-units.ts";

const MAX_BLOCKS = 4_096;

const textBlockSchema = requestObject({
  type: z.literal("text"),
  text: z.string(),
  cache_control: ANTHROPIC_PRICE,
  citations: EARLIER_RESPONSE,
});
const imageBlockSchema = requestObject({
  type: z.literal("image"),
  source: z
    .discriminatedUnion(
      "type",
      [
        z.object({
          type: z.literal("base64"),
          media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
          data: z.string().min(1),
        }),
        z.object({ type: z.literal("url"), url: imageUrlSchema }),
      ],
      'must be {"type": "base64", "media_type": "image/png", "data": "…"} or {"type": "url", "url": "https://…"}',
    )
    .describe("Only in `user` messages"),
  cache_control: ANTHROPIC_PRICE,
});
const onlyTextSchema = z.discriminatedUnion("type", [textBlockSchema], {
  error: ({ input }) => describeOtherPart(input),
});
const textsSchema = z.union([z.string(), z.array(onlyTextSchema).max(MAX_BLOCKS)], {
  error: 'must be a string, or a list of blocks {"type": "text", "text": "…"}',
});

const inputBlockSchema = z.discriminatedUnion(
  "type",
  [
    textBlockSchema,
    imageBlockSchema,
    requestObject({
      type: z.literal("tool_use"),
      id: z.string().min(1).max(256),
      name: z.string().max(64),
      input: z.record(z.string(), z.unknown()),
      caller: EARLIER_RESPONSE,
    }),
    requestObject({
      type: z.literal("tool_result"),
      tool_use_id: z.string().min(1).max(256),
      content: textsSchema.nullish().describe("Text, or text blocks"),
      is_error: ignored("only `content` is sent to the model"),
    }),
    requestObject({ type: z.literal("thinking"), thinking: EARLIER_REASONING, signature: EARLIER_REASONING }),
    requestObject({ type: z.literal("redacted_thinking"), data: EARLIER_REASONING }),
  ],
  { error: ({ input }) => describeOtherPart(input, "text and images are") },
);
const contentSchema = z
  .union([z.string(), z.array(inputBlockSchema).min(1).max(MAX_BLOCKS)], {
    error: `must be a string, or a list of 1 to ${MAX_BLOCKS} blocks`,
  })
  .describe("Text, or a list of blocks, of which the text blocks are joined");

/** Role of a message. The error has Anthropic's wording, at which Claude Code falls back to fewer roles. */
const roleSchema = z.enum(["user", "assistant", "system"], "Input should be 'user', 'assistant' or 'system'");

const withoutBudget = z.null('is allowed only with the type "enabled"').optional();
const ANTHROPIC_LABEL = ignored("a label that only Anthropic uses");

const promptFields = {
  model: z.string().min(1).describe("Slug or alias of a chat Cargo"),
  messages: withPartsLimit(
    z
      .array(z.object({ role: roleSchema, content: contentSchema }))
      .min(1)
      .max(MAX_MESSAGES),
  ),
  system: textsSchema.nullish().describe("Text, or a list of text blocks, which are joined"),
  tools: messageToolsSchema.nullish(),
  tool_choice: messageToolChoiceSchema.nullish(),
  thinking: z
    .discriminatedUnion("type", [
      requestObject({
        type: z.literal("disabled"),
        budget_tokens: withoutBudget,
        display: ignored("reasoning is always returned in full"),
      }),
      z.object({ type: z.enum(["adaptive", "between_tools"]), budget_tokens: withoutBudget }),
      z.object({
        type: z.literal("enabled"),
        budget_tokens: z
          .int()
          .min(1_024)
          .max(MAX_REQUESTED_TOKENS)
          .describe("Budget of reasoning tokens: 512 tokens for a value below 2048, otherwise 2048"),
      }),
    ])
    .nullish()
    .describe("Reasoning, which is off by default. Cargos without reasoning ignore `enabled`"),
  cache_control: ANTHROPIC_PRICE,
  speed: ignored("only one speed is available", ["standard"]),
  context_management: ignored("prompts are never edited", [{ edits: [] }]),
  user_profile_id: ANTHROPIC_LABEL,
  workspace_id: ANTHROPIC_LABEL,
  ...trustFields,
};

/** Body of a message. Source: Anthropic's API. */
export const messageBodySchema = requestObject({
  ...promptFields,
  max_tokens: z.int().min(1).max(MAX_REQUESTED_TOKENS).describe(LOWERED_TOKENS),
  temperature: z.number().min(0).max(1).nullish().describe("Default 1"),
  top_p: samplingFields.top_p,
  top_k: samplingFields.top_k,
  stop_sequences: z.array(z.string().min(1).max(200)).max(4).nullish(),
  stream: z.boolean().nullish(),
  output_config: requestObject({
    format: z
      .object({
        type: z.literal("json_schema"),
        schema: z
          .record(z.string(), z.unknown())
          .describe("Same as the schema in `response_format` of a chat, with `strict: true`"),
      })
      .nullish(),
    effort: ignored("use `thinking.budget_tokens`"),
    task_budget: ignored("use `max_tokens`"),
  }).nullish(),
  container: refused("code execution is not available"),
  metadata: ANTHROPIC_LABEL,
  service_tier: ignored("only one tier is available", ["auto", "standard_only"]),
  diagnostics: ignored("used only by Anthropic"),
  inference_geo: refused("the location of Islands cannot be chosen"),
}).openapi("MessageRequest");
type MessageBody = z.infer<typeof messageBodySchema>;

export const countTokensBodySchema = requestObject({
  ...promptFields,
  output_config: ignored("not part of the prompt"),
}).openapi("CountTokensRequest");
export const countTokensSchema = z.object({ input_tokens: z.int() }).openapi("CountedTokens");

const usageSchema = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_creation_input_tokens: z.null(),
  cache_read_input_tokens: z.null(),
  cost: costSchema.optional().describe("Credits that were charged; absent in `message_start`"),
});
const stopReasonSchema = z.enum(["end_turn", "max_tokens", "stop_sequence", "tool_use"]);
const blockSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("thinking"),
    thinking: z.string(),
    signature: z.string().describe("Always empty"),
  }),
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({
    type: z.literal("tool_use"),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
]);

export const messageSchema = z
  .object({
    id: z.string(),
    type: z.literal("message"),
    role: z.literal("assistant"),
    model: z.string(),
    content: z.array(blockSchema),
    stop_reason: stopReasonSchema
      .nullable()
      .describe(
        "`end_turn` is also returned if a stop sequence ended the response and the Island did not report which one",
      ),
    stop_sequence: z.string().nullable(),
    usage: usageSchema,
  })
  .openapi("AnthropicMessage");
export type Message = z.infer<typeof messageSchema>;

export const messageEventSchema = z
  .union([
    z.object({ type: z.literal("message_start"), message: messageSchema }),
    z.object({ type: z.literal("ping") }),
    z.object({ type: z.literal("content_block_start"), index: z.int(), content_block: blockSchema }),
    z.object({
      type: z.literal("content_block_delta"),
      index: z.int(),
      delta: z.discriminatedUnion("type", [
        z.object({ type: z.literal("text_delta"), text: z.string() }),
        z.object({ type: z.literal("thinking_delta"), thinking: z.string() }),
        z.object({ type: z.literal("signature_delta"), signature: z.string() }),
        z.object({ type: z.literal("input_json_delta"), partial_json: z.string() }),
      ]),
    }),
    z.object({ type: z.literal("content_block_stop"), index: z.int() }),
    z.object({
      type: z.literal("message_delta"),
      delta: z.object({ stop_reason: stopReasonSchema, stop_sequence: z.string().nullable() }),
      usage: usageSchema,
    }),
    z.object({ type: z.literal("message_stop") }),
    z.object({
      type: z.literal("error"),
      error: z.object({ type: z.string(), message: z.string(), code: z.string(), retryable: z.boolean() }),
    }),
  ])
  .openapi("AnthropicMessageEvent");

export function promptOf(body: z.infer<typeof countTokensBodySchema>): JobInput {
  const instructions = textOf(body.system ?? "");
  const turns = body.messages.flatMap(turnsOf);
  return {
    messages: instructions === "" ? turns : [{ role: "system", content: instructions }, ...turns],
    ...toolInputOf(body.tools, body.tool_choice),
    ...effortOf(body.thinking),
  };
}

/** Returns the effort of reasoning for a job's input. Default: no reasoning, as in Anthropic's API. */
function effortOf(thinking: MessageBody["thinking"]): { readonly reasoning_effort?: ReasoningEffort } {
  if (thinking == null || thinking.type === "disabled") return { reasoning_effort: "none" };
  return thinking.type === "enabled" ? { reasoning_effort: largestEffort(thinking.budget_tokens) } : {};
}

/** Converts a message to chat messages. Tool results become separate messages, which come first. */
function turnsOf({ role, content }: MessageBody["messages"][number]): object[] {
  if (typeof content === "string") return [{ role, content }];
  const calls = content.flatMap((block) => {
    if (block.type !== "tool_use") return [];
    const { id, name, input } = block;
    return [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }];
  });
  const results = content.flatMap((block) => {
    if (block.type !== "tool_result") return [];
    return [{ role: "tool", tool_call_id: block.tool_use_id, content: textOf(block.content ?? "") }];
  });
  const parts = content.flatMap(partOf);
  const hasText = parts.length > 0 || calls.length > 0;
  const turn = { role, content: contentOf(parts), ...(calls.length === 0 ? {} : { tool_calls: calls }) };
  return hasText ? [...results, turn] : results;
}

function partOf(block: z.infer<typeof inputBlockSchema>): ContentPart[] {
  if (block.type === "text") return [{ type: "text", text: block.text }];
  if (block.type !== "image") return [];
  const { source } = block;
  const url = source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
  return [{ type: "image_url", image_url: { url } }];
}

/** Returns the input of the message's job. Anthropic's default temperature is 1. */
export function messageInputOf(body: MessageBody): JobInput {
  const schema = body.output_config?.format?.schema;
  const fields = givenFields({
    temperature: body.temperature ?? 1,
    top_p: body.top_p,
    top_k: body.top_k,
    stop: body.stop_sequences,
    response_format: schema && { type: "json_schema", json_schema: { name: "output", schema, strict: true } },
  });
  return { ...promptOf(body), max_tokens: body.max_tokens, ...fields };
}

const FIELDS: readonly (readonly [string, string])[] = [
  ["reasoning_effort", "thinking"],
  ["response_format.json_schema.schema", "output_config.format.schema"],
  ["stop", "stop_sequences"],
];
const TOOL_FIELD = /^(tools\.\d+)\.function(?:\.(name|description))?/;

/** Returns a function that maps a path of the job's input to a field of the request. */
export function messageFieldOf({ tools }: Pick<MessageBody, "tools">): (path: string) => string {
  return (path) => {
    const [tool, toolPath = "", member = "input_schema"] = TOOL_FIELD.exec(path) ?? [];
    if (tool !== undefined) {
      const field = `${toolPath}.${member}${path.slice(tool.length).replace(/^\.parameters/, "")}`;
      return toolPathOf(offeredTools(tools), field);
    }
    const [from, to] = FIELDS.find(([start]) => path.startsWith(start)) ?? ["", ""];
    return to + path.slice(from.length);
  };
}

/** Returns the content blocks of a response: reasoning, then text unless there are only tool calls, then tool calls. */
export function blocksOf(message: AssistantMessage): Message["content"] {
  const { content, reasoning_content: thinking, tool_calls: calls = [] } = message;
  return [
    ...(thinking === undefined ? [] : [{ type: "thinking" as const, thinking, signature: "" }]),
    ...(content === null ? [] : [{ type: "text" as const, text: content }]),
    ...calls.map(({ id, function: { name, arguments: args } }) => {
      return { type: "tool_use" as const, id, name, input: parseArguments(args) };
    }),
  ];
}

/** Presents the usage of a message. @param costMicro undefined before the end, when the cost is not known */
export function messageUsage(usage: Usage, costMicro?: number): z.infer<typeof usageSchema> {
  return {
    input_tokens: usage.promptTokens,
    output_tokens: usage.completionTokens,
    cache_creation_input_tokens: null,
    cache_read_input_tokens: null,
    ...(costMicro === undefined ? {} : { cost: presentCredits(costMicro) }),
  };
}

type Ending = Pick<Extract<FeedEnding, { type: "done" }>, "finishReason" | "stopSequence">;

/** Returns why a message ended. `stops` are the requested stop sequences; an Island may report another one. */
export function stopOf({ finishReason, stopSequence }: Ending, stops: readonly string[]) {
  const isStopped = finishReason === "stop" && stopSequence !== undefined && stops.includes(stopSequence);
  if (isStopped) return { stop_reason: "stop_sequence" as const, stop_sequence: stopSequence };
  return { stop_reason: REASONS[finishReason], stop_sequence: null };
}

const REASONS = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use" } as const;
