import type { ToolCall } from "../../../shared/chat-tools.ts";
import type { Feed, FeedEnding } from "../../jobs/feed.ts";
import { toolCallsOf } from "../../jobs/tool-calls.ts";
import type { FeedItem, JobRecord } from "../../store/job-store.ts";
import {
  BEGUN,
  callItem,
  itemStateOf,
  messageItem,
  presentResponse,
  textPart,
  type ResponseProgress,
} from "../schemas/present-response.ts";
import { CUTS } from "./chat-encoder.ts";
import type { FeedEncoder } from "./sse.ts";

type CallPart = Extract<FeedItem, { type: "tool_call" }>;
type Written = Pick<Feed, "text" | "items">;

/**
 * The events of a streamed response in the order of OpenAI's API, numbered from 0. It ends in `response.completed`, `response.incomplete` or
 * `response.failed`. For one reader: it counts.
 */
export function responseEvents(job: JobRecord, feed: Written): FeedEncoder {
  let sequence = 0;
  const event = (name: string, data: object): string => {
    const type = `response.${name}`;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...data })}\n\n`;
  };
  const begun = presentResponse(job, BEGUN);
  const items = itemEvents(job.id, feed, event);
  const fail = (message: string): string => {
    const progress: ResponseProgress = { ...BEGUN, ...writtenIn(feed), state: "failed", failure: message };
    return event("failed", { response: presentResponse(job, progress) });
  };
  return {
    prologue: event("created", { response: begun }) + event("in_progress", { response: begun }),
    item(item) {
      if (item.type === "token") return items.text(item.content);
      return item.type === "tool_call" ? items.call(item) : "";
    },
    ending(ending) {
      if (ending.type === "error") return fail(ending.message);
      const progress = doneProgress(ending, feed);
      const name = progress.isCut ? "incomplete" : "completed";
      return items.end(itemStateOf(progress)) + event(name, { response: presentResponse(job, progress) });
    },
    cut: (because) => fail(CUTS[because].message),
  };
}

/** The events of a response's items. One is open at a time: a text, or a call of a tool. */
function itemEvents(jobId: string, feed: Written, event: (name: string, data: object) => string) {
  /** -1 before the first item. */
  let outputIndex = -1;
  /** The call that is open; null: the text is. */
  let call: number | null = null;
  const open = (item: object): string => event("output_item.added", { output_index: ++outputIndex, item });
  const close = (status: "completed" | "incomplete"): string => {
    if (outputIndex === -1) return "";
    const place = { output_index: outputIndex };
    const { text, calls } = writtenIn(feed);
    if (call === null) {
      const item = messageItem(jobId, text, status);
      const inItem = { item_id: item.id, ...place, content_index: 0 };
      return (
        event("output_text.done", { ...inItem, text, logprobs: [] }) +
        event("content_part.done", { ...inItem, part: textPart(text) }) +
        event("output_item.done", { ...place, item })
      );
    }
    const item = callItem(jobId, call, calls[call] ?? NO_CALL, status);
    const { id, name, arguments: args } = item;
    return (
      event("function_call_arguments.done", { item_id: id, ...place, name, arguments: args }) +
      event("output_item.done", { ...place, item })
    );
  };
  const openText = (): string => {
    if (outputIndex !== -1 && call === null) return "";
    const closed = close("completed");
    call = null;
    const item = messageItem(jobId, "", "in_progress");
    const opened = open(item);
    const inItem = { item_id: item.id, output_index: outputIndex, content_index: 0 };
    return closed + opened + event("content_part.added", { ...inItem, part: textPart("") });
  };
  const openCall = ({ index, id = "", name = "" }: CallPart): string => {
    if (call === index) return "";
    const closed = close("completed");
    call = index;
    const begun: ToolCall = { id, type: "function", function: { name, arguments: "" } };
    return closed + open(callItem(jobId, index, begun, "in_progress"));
  };
  return {
    text(delta: string): string {
      const opened = openText();
      const { id } = messageItem(jobId, "", "in_progress");
      const inItem = { item_id: id, output_index: outputIndex, content_index: 0 };
      return opened + event("output_text.delta", { ...inItem, delta, logprobs: [] });
    },
    call(part: CallPart): string {
      const opened = openCall(part);
      if (part.arguments === "") return opened;
      const { id } = callItem(jobId, part.index, NO_CALL, "in_progress");
      const delta = { item_id: id, output_index: outputIndex, delta: part.arguments };
      return opened + event("function_call_arguments.delta", delta);
    },
    /** An answer without anything is an empty text. */
    end: (status: "completed" | "incomplete"): string => (outputIndex === -1 ? openText() : "") + close(status),
  };
}

const NO_CALL: ToolCall = { id: "", type: "function", function: { name: "", arguments: "" } };

/** What the model wrote. @param feed is loaded. */
export function writtenIn(feed: Written): Pick<ResponseProgress, "text" | "calls"> {
  return { text: feed.text(), calls: toolCallsOf(feed.items) };
}

/** @param feed is loaded. */
export function doneProgress(
  { usage, finishReason }: Extract<FeedEnding, { type: "done" }>,
  feed: Written,
): ResponseProgress {
  return { state: "completed", ...writtenIn(feed), usage, isCut: finishReason === "length", failure: null };
}
