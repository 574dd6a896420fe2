import type { ChatHistoryItem } from "node-llama-cpp";
import type { ChatMessage } from "../../../shared/chat-input.ts";

/**
 * Converts a conversation to node-llama-cpp's history, which ends with the empty completion to generate. Messages keep
 * their order. Templates have only three roles, so `developer` becomes a system message and `tool` a user message.
 */
export function historyOf(messages: readonly ChatMessage[]): ChatHistoryItem[] {
  return [...messages.map(itemOf), { type: "model", response: [] }];
}

function itemOf({ role, content }: ChatMessage): ChatHistoryItem {
  switch (role) {
    case "system":
    case "developer":
      return { type: "system", text: content };
    case "user":
    case "tool":
      return { type: "user", text: content };
    case "assistant":
      return { type: "model", response: [content] };
    default:
      return role satisfies never;
  }
}
