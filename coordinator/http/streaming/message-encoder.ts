import type { CutReason, FeedEnding } from "../../jobs/feed.ts";
import { anthropicType } from "../error-answers.ts";
import { messageUsage, stopReasonOf, type MessageAnswer } from "../schemas/message-schemas.ts";
import { CUTS } from "./chat-encoder.ts";
import type { FeedEncoder } from "./sse.ts";

const NOTHING_USED = messageUsage({ promptTokens: 0, completionTokens: 0 });

/**
 * The events of a streamed message in the order that Anthropic's clients expect. How long the prompt is, is known at the end: the last
 * `message_delta` has the whole usage. An error after output began is an event `error`, and no `message_stop` follows.
 */
export function messageEvents({ id, model }: Pick<MessageAnswer, "id" | "model">): FeedEncoder {
  const message: MessageAnswer = {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: NOTHING_USED,
  };
  const block = { type: "text", text: "", citations: null };
  const beforeText = `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`;
  return {
    prologue:
      event("message_start", { message }) +
      event("content_block_start", { index: 0, content_block: block }) +
      event("ping", {}),
    item: (item) => (item.type === "token" ? `${beforeText}${JSON.stringify(item.content)}}}\n\n` : ""),
    ending(ending) {
      if (ending.type === "error") return failure(ending);
      const delta = { stop_reason: stopReasonOf(ending.finishReason), stop_sequence: null };
      return (
        event("content_block_stop", { index: 0 }) +
        event("message_delta", { delta, usage: messageUsage(ending.usage) }) +
        event("message_stop", {})
      );
    },
    cut: (because: CutReason) => failure({ ...CUTS[because], retryable: true }),
  };
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

type Failure = Pick<FeedEnding & { type: "error" }, "message" | "retryable"> & { readonly code: string };

function failure({ message, code, retryable }: Failure): string {
  return event("error", { error: { type: anthropicType(500), message, code, retryable } });
}
