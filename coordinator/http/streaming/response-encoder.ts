import type { Feed, FeedEnding } from "../../jobs/feed.ts";
import type { JobRecord } from "../../store/job-store.ts";
import {
  BEGUN,
  itemStateOf,
  outputItem,
  presentResponse,
  textPart,
  type ResponseProgress,
} from "../schemas/present-response.ts";
import { CUTS } from "./chat-encoder.ts";
import type { FeedEncoder } from "./sse.ts";

/**
 * The events of a streamed response in the order of OpenAI's API, numbered from 0. It ends in `response.completed`, `response.incomplete` or
 * `response.failed`. For one reader: it counts.
 */
export function responseEvents(job: JobRecord, feed: Pick<Feed, "text">): FeedEncoder {
  let sequence = 0;
  const event = (name: string, data: object): string => {
    const type = `response.${name}`;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...data })}\n\n`;
  };
  const begun = presentResponse(job, BEGUN);
  const { id } = outputItem(job.id, "", "in_progress");
  const inItem = { item_id: id, output_index: 0, content_index: 0 };
  const end = (name: string, progress: ResponseProgress): string => {
    const { text } = progress;
    return (
      event("output_text.done", { ...inItem, text, logprobs: [] }) +
      event("content_part.done", { ...inItem, part: textPart(text) }) +
      event("output_item.done", { output_index: 0, item: outputItem(job.id, text, itemStateOf(progress)) }) +
      event(name, { response: presentResponse(job, progress) })
    );
  };
  const fail = (message: string): string => {
    const progress: ResponseProgress = { ...BEGUN, state: "failed", text: feed.text(), failure: message };
    return event("failed", { response: presentResponse(job, progress) });
  };
  return {
    prologue:
      event("created", { response: begun }) +
      event("in_progress", { response: begun }) +
      event("output_item.added", { output_index: 0, item: outputItem(job.id, "", "in_progress") }) +
      event("content_part.added", { ...inItem, part: textPart("") }),
    item: (item) =>
      item.type === "token" ? event("output_text.delta", { ...inItem, delta: item.content, logprobs: [] }) : "",
    ending(ending) {
      if (ending.type === "error") return fail(ending.message);
      const progress = doneProgress(ending, feed.text());
      return end(progress.isCut ? "incomplete" : "completed", progress);
    },
    cut: (because) => fail(CUTS[because].message),
  };
}

export function doneProgress(
  { usage, finishReason }: Extract<FeedEnding, { type: "done" }>,
  text: string,
): ResponseProgress {
  return { state: "completed", text, usage, isCut: finishReason === "length", failure: null };
}
