import type { FeedEnding } from "../../jobs/feed.ts";
import type { FeedItem, JobRecord } from "../../store/jobs/job-store.ts";
import { failureStatus } from "../../http/error-responses.ts";
import {
  BEGUN,
  itemStateOf,
  namespacedFunctionsOf,
  presentResponse,
  type ResponseProgress,
} from "./present-response.ts";
import {
  EMPTY_TEXT,
  itemIdOf,
  OutputRuns,
  presentResponseLogprobs,
  presentRun,
  reasoningPart,
  textPart,
  type OutputRun,
} from "./output.ts";
import { CUT_ERRORS } from "../../http/streaming/chat-encoder.ts";
import type { FeedEncoder } from "../../http/streaming/sse.ts";

type WriteEvent = (name: string, data: object) => string;

/**
 * Returns an encoder of a streamed response's events in the order of OpenAI's API, numbered from 0. If the job failed
 * before any output and the request is not at fault, the last event is `error`, which OpenAI's clients throw. Each
 * encoder serves one reader, because it counts events.
 */
export function responseEvents(job: JobRecord): FeedEncoder {
  let sequence = 0;
  const write = (type: string, data: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...data })}\n\n`;
  const event: WriteEvent = (name, data) => write(`response.${name}`, data);
  const begun = presentResponse(job, BEGUN);
  const written = new OutputRuns(namespacedFunctionsOf(job));
  const items = itemEvents(job.id, written, event);
  const fail = ({ code, message }: { readonly code: string; readonly message: string }): string => {
    // Codex reads the error code from `response.failed`, and ignores the event `error`.
    const isOfRequest = failureStatus(code) < 500;
    if (written.runs.length === 0 && !isOfRequest) return write("error", { code, message, param: null });
    const progress: ResponseProgress = { ...BEGUN, written, state: "failed", failure: { code, message } };
    return event("failed", { response: presentResponse(job, progress) });
  };
  return {
    prologue: event("created", { response: begun }) + event("in_progress", { response: begun }),
    item: (item) => items.write(item),
    ending(ending) {
      if (ending.type === "error") return fail(ending);
      const progress = doneProgress(ending, written);
      const name = progress.isCut ? "incomplete" : "completed";
      return items.end(itemStateOf(progress)) + event(name, { response: presentResponse(job, progress) });
    },
    cut: (reason) => fail(CUT_ERRORS[reason]),
  };
}

/** Encodes the events of output items. One item is open at a time: reasoning, a text, or a tool call. */
function itemEvents(jobId: string, written: OutputRuns, event: WriteEvent) {
  /** Index of the open output item; -1 before the first item. */
  let outputIndex = -1;
  let openRun: OutputRun | null = null;
  const positionOf = (run: OutputRun) => {
    const position = { item_id: itemIdOf(jobId, outputIndex, run), output_index: outputIndex };
    return run.kind === "call" ? position : { ...position, content_index: 0 };
  };
  const open = (run: OutputRun): string => {
    openRun = run;
    outputIndex++;
    const item = presentRun(jobId, outputIndex, run, "in_progress");
    const added = event("output_item.added", { output_index: outputIndex, item });
    if (run.kind === "call") return added;
    const part = run.kind === "text" ? textPart(EMPTY_TEXT) : reasoningPart("");
    return added + event("content_part.added", { ...positionOf(run), part });
  };
  const close = (status: "completed" | "incomplete"): string => {
    if (openRun === null) return "";
    const item = presentRun(jobId, outputIndex, openRun, status);
    const done = encodeDone(openRun, positionOf(openRun), event);
    return done + event("output_item.done", { output_index: outputIndex, item });
  };
  return {
    write(item: FeedItem): string {
      const run = written.push(item);
      if (run === null) return "";
      // A late part of an earlier tool call, which our agents do not send, is only in the last event.
      if (run !== openRun && run !== written.runs.at(-1)) return "";
      const opened = run === openRun ? "" : close("completed") + open(run);
      return opened + encodeDelta(item, positionOf(run), event);
    },
    /** Closes the open item. A response without items gets an item with an empty text. */
    end: (status: "completed" | "incomplete"): string => (openRun === null ? open(EMPTY_TEXT) : "") + close(status),
  };
}

function encodeDelta(item: FeedItem, position: object, event: WriteEvent): string {
  if (item.type === "token") {
    const logprobs = presentResponseLogprobs(item.logprobs ?? []);
    return event("output_text.delta", { ...position, delta: item.content, logprobs });
  }
  if (item.type === "reasoning") return event("reasoning_text.delta", { ...position, delta: item.content });
  if (item.type !== "tool_call" || item.arguments === "") return "";
  return event("function_call_arguments.delta", { ...position, delta: item.arguments });
}

function encodeDone(run: OutputRun, position: object, event: WriteEvent): string {
  const { kind, text } = run;
  if (kind === "call") return event("function_call_arguments.done", { ...position, name: run.name, arguments: text });
  if (kind === "reasoning") {
    const part = reasoningPart(text);
    return event("reasoning_text.done", { ...position, text }) + event("content_part.done", { ...position, part });
  }
  const part = textPart(run);
  const done = event("output_text.done", { ...position, text, logprobs: part.logprobs });
  return done + event("content_part.done", { ...position, part });
}

export function doneProgress(
  { usage, finishReason, creditsUsedMicro: costMicro }: Extract<FeedEnding, { type: "done" }>,
  written: OutputRuns,
): ResponseProgress {
  return { state: "completed", written, usage, costMicro, isCut: finishReason === "length", failure: null };
}
