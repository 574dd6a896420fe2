import type { ToolCall } from "../../shared/chat-tools.ts";
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
