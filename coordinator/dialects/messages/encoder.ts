import type { CutReason, Feed } from "../../jobs/feed.ts";
import { anthropicType, failureStatus } from "../../http/error-responses.ts";
import { messageUsage, stopOf, type Message } from "./schemas.ts";
import { CUT_ERRORS, type StreamError } from "../../http/streaming/chat-encoder.ts";
import type { FeedEncoder } from "../../http/streaming/sse.ts";

/**
 * Returns an encoder of a streamed message's events in the order that Anthropic's clients expect. After an event
 * `error` no `message_stop` follows. Each encoder serves one reader, because it counts blocks.
 */
export function messageEvents(
  { id, model, promptTokens }: Pick<Message, "id" | "model"> & Pick<Feed, "promptTokens">,
  stops: readonly string[],
): FeedEncoder {
  const message: Message = {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    // LangChain reads the number of prompt tokens only from this event.
    usage: messageUsage({ promptTokens, completionTokens: 0 }),
  };
  /** Index of the open content block; -1 before the first block. */
  let index = -1;
  /** Kind of the open content block. A number is the index of a tool call; null before the first block. */
  let kind: "text" | "thinking" | number | null = null;
  const delta = (change: object): string => event("content_block_delta", { index, delta: change });
  const close = (): string => {
    if (kind === null) return "";
    const signature = kind === "thinking" ? delta({ type: "signature_delta", signature: "" }) : "";
    return signature + event("content_block_stop", { index });
  };
  const open = (next: NonNullable<typeof kind>, block: object): string => {
    if (kind === next) return "";
    const closed = close();
    kind = next;
    return closed + event("content_block_start", { index: ++index, content_block: block });
  };
  const openText = (): string => open("text", { type: "text", text: "" });
  return {
    prologue: event("message_start", { message }) + event("ping", {}),
    item(item) {
      if (item.type === "token") return openText() + delta({ type: "text_delta", text: item.content });
      if (item.type === "reasoning") {
        const opened = open("thinking", { type: "thinking", thinking: "", signature: "" });
        return opened + delta({ type: "thinking_delta", thinking: item.content });
      }
      if (item.type !== "tool_call") return "";
      const { id, name } = item;
      const opened = open(item.index, { type: "tool_use", id, name, input: {} });
      return opened + (item.arguments === "" ? "" : delta({ type: "input_json_delta", partial_json: item.arguments }));
    },
    ending(ending) {
      if (ending.type === "error") return failure(ending);
      const closed = (kind === null ? openText() : "") + close();
      const usage = messageUsage(ending.usage, ending.creditsUsedMicro);
      return closed + event("message_delta", { delta: stopOf(ending, stops), usage }) + event("message_stop", {});
    },
    cut: (reason: CutReason) => failure(CUT_ERRORS[reason]),
  };
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

function failure({ message, code, retryable }: StreamError): string {
  return event("error", { error: { type: anthropicType(failureStatus(code)), message, code, retryable } });
}
