import { z } from "@hono/zod-openapi";
import type { ContentPart } from "../../../shared/chat-images.ts";
import {
  contentOf,
  describeOtherPart,
  IMAGE_DETAIL,
  imageUrlSchema,
  textOf,
  withPartsLimit,
} from "../../../shared/chat-input.ts";
import { toolCallSchema, toolNameSchema, type ToolCall } from "../../../shared/chat-tools.ts";
import { isJsonObject } from "../../../shared/json-value.ts";
import { EARLIER_RESPONSE, ignoredEntry, refused, requestObject } from "../../../shared/request-object.ts";
import type { ResponseItem } from "./output.ts";
import { flatNameOf } from "./tools.ts";

const MAX_PARTS = 256;
const MAX_ITEMS = 4_096;
/** Types of input items that are ignored: without their results, they do not change the meaning of the conversation. */
const IGNORED_ITEMS = ["reasoning", "web_search_call", "file_search_call", "code_interpreter_call"] as const;

const textPartSchema = requestObject({
  type: z.enum(["input_text", "output_text", "text"]),
  text: z.string(),
  annotations: EARLIER_RESPONSE,
  logprobs: EARLIER_RESPONSE,
});
const imagePartSchema = requestObject({
  type: z.literal("input_image"),
  image_url: imageUrlSchema.describe("As `image_url.url` of a chat completion. Only in `user` messages"),
  detail: IMAGE_DETAIL,
  file_id: refused("send the image as a data URL in `image_url`"),
});
const textsSchema = partsOf([textPartSchema], "text is");
const contentSchema = partsOf([textPartSchema, imagePartSchema], "text and images are");

function partsOf<T extends readonly [z.ZodObject, ...z.ZodObject[]]>(options: T, supported: string) {
  const part = z.discriminatedUnion("type", options, { error: ({ input }) => describeOtherPart(input, supported) });
  return z.union([z.string(), z.array(part).max(MAX_PARTS)], {
    error: `must be a string, or a list of at most ${MAX_PARTS} parts`,
  });
}
const idSchema = toolCallSchema.shape.id;
const callFields = { call_id: idSchema, name: toolNameSchema, namespace: toolNameSchema.nullish() };

/** An item of a response's `input`. Source: OpenAI's API. */
const itemSchema = z.discriminatedUnion(
  "type",
  [
    requestObject({
      type: z.literal("message").nullish(),
      role: z.enum(["user", "assistant", "system", "developer"]),
      content: contentSchema.describe("Text, or a list of parts; text parts are joined"),
      status: EARLIER_RESPONSE,
      phase: EARLIER_RESPONSE,
    }),
    requestObject({
      type: z.literal("function_call"),
      ...callFields,
      arguments: z.string().describe("JSON text"),
      caller: EARLIER_RESPONSE,
    }),
    z.object({
      type: z.literal("custom_tool_call"),
      ...callFields,
      input: z.string().describe('The model receives `{"input": …}`'),
    }),
    z.object({
      type: z.literal("local_shell_call"),
      call_id: idSchema,
      action: z.record(z.string(), z.unknown()).describe("The model receives it as JSON"),
    }),
    z.object({
      type: z.enum(["function_call_output", "custom_tool_call_output"]),
      call_id: idSchema,
      output: textsSchema,
    }),
    ignoredEntry(
      z.object({ type: z.enum(IGNORED_ITEMS) }),
      `${IGNORED_ITEMS.map((type) => `\`${type}\``).join(", ")} are not sent to the model`,
      (item) => isJsonObject(item) && IGNORED_ITEMS.some((type) => type === item["type"]),
    ),
    z.object({
      type: z.literal("item_reference"),
      id: z.string().max(200).describe("Id of an item of a stored response"),
    }),
  ],
  { error: ({ input }) => describeOtherItem(input) },
);
type GivenItem = z.infer<typeof itemSchema>;
type Reference = Extract<GivenItem, { type: "item_reference" }>;
/** An item that the request contains, as opposed to a reference to an item of a stored response. */
export type Item = Exclude<GivenItem, Reference>;
type CallItem = Extract<Item, { type: "function_call" | "custom_tool_call" | "local_shell_call" }>;

function describeOtherItem(item: unknown): string {
  const { type } = (item ?? {}) as { readonly type?: unknown };
  return `${JSON.stringify(type)} is not supported; only messages, client tool calls and their outputs are`;
}

export const responseInputSchema = withPartsLimit(
  z.union([z.string().min(1), z.array(itemSchema).min(1).max(MAX_ITEMS)], {
    error: `must be a non-empty string, or a list of 1 to ${MAX_ITEMS} items`,
  }),
);

export function isReference(item: GivenItem): item is Reference {
  return item.type === "item_reference";
}

export function itemOf(output: ResponseItem): Item {
  const item = itemSchema.parse(output);
  if (isReference(item)) throw new Error(`${output.id} is a reference`);
  return item;
}

export interface Turn {
  readonly role: string;
  readonly content: string | readonly ContentPart[] | null;
  readonly tool_calls?: readonly ToolCall[] | undefined;
  readonly tool_call_id?: string | undefined;
}

/** Converts items to chat messages. A text and the tool calls after it become one assistant message. */
export function turnsOf(items: readonly Item[]): Turn[] {
  const turns: Turn[] = [];
  for (const item of items) {
    const last = turns.at(-1);
    switch (item.type) {
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call": {
        const isNext = last?.role === "assistant";
        if (isNext) turns.pop();
        turns.push({
          ...(isNext ? last : { role: "assistant", content: "" }),
          tool_calls: [...(last?.tool_calls ?? []), callOf(item)],
        });
        break;
      }
      case "function_call_output":
      case "custom_tool_call_output":
        turns.push({ role: "tool", content: textOf(item.output), tool_call_id: item.call_id });
        break;
      case "message":
      case null:
      case undefined:
        turns.push({ role: item.role, content: contentOfItem(item.content) });
        break;
      default:
        item.type satisfies (typeof IGNORED_ITEMS)[number];
    }
  }
  return turns;
}

function contentOfItem(content: Extract<Item, { role: unknown }>["content"]): Turn["content"] {
  if (typeof content === "string") return content;
  const partOf = (part: (typeof content)[number]): ContentPart =>
    part.type === "input_image"
      ? { type: "image_url", image_url: { url: part.image_url } }
      : { type: "text", text: part.text };
  return contentOf(content.map(partOf));
}

/** Converts a tool call, whose input may be a text or a command, to a function call. */
function callOf(item: CallItem): ToolCall {
  const name = item.type === "local_shell_call" ? "local_shell" : flatNameOf(item);
  return { id: item.call_id, type: "function", function: { name, arguments: argumentsOf(item) } };
}

function argumentsOf(item: CallItem): string {
  if (item.type === "function_call") return item.arguments;
  return JSON.stringify(item.type === "local_shell_call" ? item.action : { input: item.input });
}
