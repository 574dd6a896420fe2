import type { FeedEncoder } from "./sse.ts";
import { presentLogprobs } from "../schemas/chat-schemas.ts";
import { presentCredits, presentUnixTime } from "../schemas/wire-units.ts";
import { failureStatus, openAiType } from "../error-responses.ts";
import type { CutReason, FeedEnding } from "../../jobs/feed.ts";
import type { FeedItem, JobRecord } from "../../store/jobs/job-store.ts";

export interface ChatStreamHead {
  readonly jobId: string;
  /** Unix time in seconds at which the job was created. */
  readonly createdS: number;
  readonly model: string;
  readonly includeUsage: boolean;
  /** Usage of the stream's earlier choices, to which this choice adds its own. Default: none. */
  readonly usage?: StreamUsage;
  readonly index?: number;
  /** Whether this choice is the last one of the stream. Default: true. */
  readonly isLast?: boolean;
}

export function completionHeadOf(job: JobRecord): Pick<ChatStreamHead, "jobId" | "createdS" | "model"> {
  return { jobId: job.id, createdS: presentUnixTime(job.createdAtMs), model: job.slug };
}

interface StreamUsage {
  promptTokens: number;
  completionTokens: number;
  reasoningTokens: number;
  costMicro: number;
}

export const NO_USAGE: StreamUsage = { promptTokens: 0, completionTokens: 0, reasoningTokens: 0, costMicro: 0 };

export function chatUsage({ promptTokens, completionTokens, reasoningTokens, costMicro }: StreamUsage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    cost: presentCredits(costMicro),
    ...(reasoningTokens > 0 ? { completion_tokens_details: { reasoning_tokens: reasoningTokens } } : {}),
  };
}

export function addUsage(total: StreamUsage, { usage, creditsUsedMicro }: FeedEnding & { type: "done" }): void {
  total.promptTokens += usage.promptTokens;
  total.completionTokens += usage.completionTokens;
  total.costMicro += creditsUsedMicro;
}

/** The error that ends a stream whose headers are sent. */
export type StreamError = Pick<FeedEnding & { type: "error" }, "message" | "retryable"> & { readonly code: string };

/** Errors for a chat whose feed, read from another coordinator, was cut. */
export const CUT_ERRORS: Record<CutReason, StreamError> = {
  memory: {
    code: "overloaded",
    message: "The coordinator does not have enough memory for the rest of this response. Try again",
    retryable: true,
  },
  lost: {
    code: "island_lost",
    message: "The Island was lost, and the job restarted on another one. Try again",
    retryable: true,
  },
};

/**
 * Returns an encoder of the chunks of a chat completion in the order that OpenAI's clients expect: role, text and
 * finish reason, and after the last choice the usage, if requested, and [DONE]. An error after output started is one
 * `{error}` line without [DONE], so that a cut completion does not look complete.
 */
export function chatChunks(stream: ChatStreamHead): FeedEncoder {
  const { jobId, createdS, model, includeUsage, usage = { ...NO_USAGE }, index = 0, isLast = true } = stream;
  const head = `data: {"id":${JSON.stringify(jobId)},"object":"chat.completion.chunk","created":${createdS},"model":${JSON.stringify(model)}`;
  const chunk = (delta: string, finishReason: string, logprobs = "null"): string =>
    `${head},"choices":[{"index":${index},"delta":${delta},"logprobs":${logprobs},"finish_reason":${finishReason}}]}\n\n`;
  const beforeText = `${head},"choices":[{"index":${index},"delta":{"content":`;
  const afterText = '},"logprobs":null,"finish_reason":null}]}\n\n';
  return {
    prologue: chunk('{"role":"assistant","content":""}', "null"),
    item(item) {
      if (item.type === "token" && item.logprobs === undefined) {
        return beforeText + JSON.stringify(item.content) + afterText;
      }
      if (item.type === "token") {
        return chunk(JSON.stringify({ content: item.content }), "null", JSON.stringify(presentLogprobs([item])));
      }
      if (item.type === "reasoning") {
        usage.reasoningTokens += item.count;
        return chunk(JSON.stringify({ reasoning_content: item.content }), "null");
      }
      return item.type === "tool_call" ? chunk(callDelta(item), "null") : "";
    },
    ending(ending) {
      if (ending.type === "error") return errorLine(ending);
      addUsage(usage, ending);
      const last = chunk("{}", JSON.stringify(ending.finishReason));
      if (!isLast) return last;
      const used = includeUsage ? `${head},"choices":[],"usage":${JSON.stringify(chatUsage(usage))}}\n\n` : "";
      return `${last}${used}data: [DONE]\n\n`;
    },
    cut: (reason) => errorLine(CUT_ERRORS[reason]),
  };
}

/** Encodes a part of a tool call. OpenAI's clients expect `type` in the first part. */
function callDelta({ index, id, name, arguments: args }: Extract<FeedItem, { type: "tool_call" }>): string {
  const call = id === undefined ? { index } : { index, id, type: "function" };
  return JSON.stringify({ tool_calls: [{ ...call, function: { name, arguments: args } }] });
}

/** Encodes the line that ends a stream whose job failed after output started. */
export function errorLine({ message, code, retryable }: StreamError): string {
  const type = openAiType(failureStatus(code));
  return `data: ${JSON.stringify({ error: { message, type, param: null, code, retryable } })}\n\n`;
}
