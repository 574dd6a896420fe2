import type { ChatHistoryItem } from "node-llama-cpp";
import type { ChatMessage } from "../../../shared/chat-input.ts";

/**
 * A conversation as node-llama-cpp takes it, ending in the empty answer that is to be written. Every message keeps its place;
 * `developer` is a system message and `tool` a text of the user: templates know no more than three roles.
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
