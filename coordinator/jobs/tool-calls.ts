import { argumentsSchemaOf, looseTools } from "../../shared/grammar/call-schema.ts";
import type { ToolCall, ToolUse } from "../../shared/chat-tools.ts";
import { fitsRead } from "../../shared/grammar/grammar-fit.ts";
import { UnsupportedSchema } from "../../shared/grammar/grammar-schema.ts";
import { isJsonObject } from "../../shared/json-value.ts";
import type { FinishReason } from "../../shared/output.ts";
import type { FeedItem } from "../store/jobs/job-store.ts";
import type { Feed } from "./feed.ts";

/** Joins the tool call items of a feed into calls, in order. A call whose first item is missing has an empty name. */
export function toolCallsOf(items: readonly FeedItem[]): ToolCall[] {
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  for (const item of items) {
    if (item.type !== "tool_call") continue;
    const { index, id = "", name = "" } = item;
    const begun = calls.get(index);
    if (begun === undefined) calls.set(index, { id, name, arguments: item.arguments });
    else begun.arguments += item.arguments;
  }
  return Array.from(calls.values(), ({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: { name, arguments: args },
  }));
}

/** A message of the model. The content is null if there are only tool calls. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: string | null;
  readonly tool_calls?: ToolCall[];
  /** The reasoning, under the field name of DeepSeek, vLLM and llama.cpp's server. */
  readonly reasoning_content?: string;
}

/**
 * Returns the message that a feed contains.
 * @param feed Must be loaded.
 */
export function assistantMessageOf(feed: Pick<Feed, "items" | "text">): AssistantMessage {
  const text = feed.text();
  const calls = toolCallsOf(feed.items);
  const reasoningText = feed.items.map((item) => (item.type === "reasoning" ? item.content : "")).join("");
  const reasoning = reasoningText === "" ? {} : { reasoning_content: reasoningText };
  if (calls.length === 0) return { role: "assistant", content: text, ...reasoning };
  return { role: "assistant", content: text === "" ? null : text, ...reasoning, tool_calls: calls };
}

/**
 * Returns true if tools, number and arguments of the calls are as requested. Does not check a last call that was cut.
 */
export function callsMatchRequest(
  calls: readonly ToolCall[],
  use: ToolUse | null,
  finishReason: FinishReason,
): boolean {
  if (use === null) return calls.length === 0;
  const isCut = finishReason === "length";
  if (!isCut && (finishReason === "tool_calls") !== calls.length > 0) return false;
  if (use.isRequired && calls.length === 0) return isCut;
  if (calls.length > use.maxCalls) return false;
  const whole = isCut ? calls.slice(0, -1) : calls;
  return whole.every((call) => fitsTool(call, use));
}

function fitsTool({ function: { name, arguments: args } }: ToolCall, { tools }: ToolUse): boolean {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) return false;
  try {
    const value: unknown = JSON.parse(args);
    if (!isJsonObject(value)) return false;
    return looseTools(tools).has(name) || fitsRead(value, argumentsSchemaOf(tool));
  } catch (error) {
    // An earlier version of the coordinator accepted the schema.
    return error instanceof UnsupportedSchema;
  }
}
