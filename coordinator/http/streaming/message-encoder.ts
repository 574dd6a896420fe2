import type { CutReason, FeedEnding } from "../../jobs/feed.ts";
import { anthropicType } from "../error-answers.ts";
import { messageUsage, stopReasonOf, type MessageAnswer } from "../schemas/message-schemas.ts";
import { CUTS } from "./chat-encoder.ts";
import type { FeedEncoder } from "./sse.ts";

const NOTHING_USED = messageUsage({ promptTokens: 0, completionTokens: 0 });

/**
 * The events of a streamed message in the order that Anthropic's clients expect. How long the prompt is, is known at the end: the last
 * `message_delta` has the whole usage. For one reader: it counts blocks. An error after output began is an event `error`, and no `message_stop` follows.
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
  /** Of the block that is open; -1 before the first. */
  let index = -1;
  let call: number | null = null;
  const close = (): string => (index === -1 ? "" : event("content_block_stop", { index }));
  const open = (block: object): string =>
    close() + event("content_block_start", { index: ++index, content_block: block });
  const delta = (change: object): string => event("content_block_delta", { index, delta: change });
  const openText = (): string =>
    index === -1 || call !== null ? open({ type: "text", text: "", citations: null }) : "";
  return {
    prologue: event("message_start", { message }) + event("ping", {}),
    item(item) {
      if (item.type === "token") {
        const opened = openText();
        call = null;
        return opened + delta({ type: "text_delta", text: item.content });
      }
      if (item.type !== "tool_call") return "";
      const { id, name } = item;
      const opened = item.index === call ? "" : open({ type: "tool_use", id, name, input: {} });
      call = item.index;
      return opened + (item.arguments === "" ? "" : delta({ type: "input_json_delta", partial_json: item.arguments }));
    },
    ending(ending) {
      if (ending.type === "error") return failure(ending);
      const end = { stop_reason: stopReasonOf(ending.finishReason), stop_sequence: null };
      return (
        (index === -1 ? openText() : "") +
        close() +
        event("message_delta", { delta: end, usage: messageUsage(ending.usage) }) +
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
