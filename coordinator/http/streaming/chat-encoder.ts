import type { FeedEncoder } from "./sse.ts";
import { presentLogprobs } from "../schemas/present-logprobs.ts";
import { openAiType } from "../error-answers.ts";
import type { CutReason, FeedEnding } from "../../jobs/feed.ts";
import type { FeedItem } from "../../store/job-store.ts";
import type { Usage } from "../../../shared/output.ts";

export interface ChatStreamHead {
  readonly jobId: string;
  /** Unix time in seconds. */
  readonly createdS: number;
  readonly model: string;
  readonly includeUsage: boolean;
}

/** `usage` of a chat completion. */
export function chatUsage({ promptTokens, completionTokens }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** Why a chat's stream cannot go on, whose job another coordinator has. */
export const CUTS: Record<CutReason, { readonly code: string; readonly message: string }> = {
  memory: { code: "overloaded", message: "The coordinator has no memory for the rest of this answer; try again" },
  lost: { code: "island_lost", message: "The Island was lost, and another one answers anew; try again" },
};

/**
 * The chunks of a chat completion in the order that OpenAI's clients expect: role, text, finish reason, usage if asked, [DONE].
 * An error after output began is one `{error}` line without [DONE], so that a cut answer does not look complete.
 */
export function chatChunks({ jobId, createdS, model, includeUsage }: ChatStreamHead): FeedEncoder {
  const head = `data: {"id":${JSON.stringify(jobId)},"object":"chat.completion.chunk","created":${createdS},"model":${JSON.stringify(model)}`;
  const chunk = (delta: string, finishReason: string, logprobs = "null"): string =>
    `${head},"choices":[{"index":0,"delta":${delta},"logprobs":${logprobs},"finish_reason":${finishReason}}]}\n\n`;
  const beforeText = `${head},"choices":[{"index":0,"delta":{"content":`;
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
      return item.type === "tool_call" ? chunk(callDelta(item), "null") : "";
    },
    ending(ending) {
      if (ending.type === "error") return errorLine(ending);
      const usage = includeUsage ? `${head},"choices":[],"usage":${JSON.stringify(chatUsage(ending.usage))}}\n\n` : "";
      return `${chunk("{}", JSON.stringify(ending.finishReason))}${usage}data: [DONE]\n\n`;
    },
    cut: (because) => errorLine({ ...CUTS[because], retryable: true }),
  };
}

/** A part of a call of a tool. OpenAI's clients take `type` with the first part. */
function callDelta({ index, id, name, arguments: args }: Extract<FeedItem, { type: "tool_call" }>): string {
  const call = id === undefined ? { index } : { index, id, type: "function" };
  return JSON.stringify({ tool_calls: [{ ...call, function: { name, arguments: args } }] });
}

type StreamError = Pick<FeedEnding & { type: "error" }, "message" | "retryable"> & { readonly code: string };

/** The line that ends a stream whose job failed after output began. */
export function errorLine({ message, code, retryable }: StreamError): string {
  return `data: ${JSON.stringify({ error: { message, type: openAiType(500), param: null, code, retryable } })}\n\n`;
}
