import type { FeedEncoder } from "../../http/streaming/sse.ts";
import { CUTS, chatUsage, errorLine, type ChatStreamHead } from "../../http/streaming/chat-encoder.ts";

/** The chunks of a legacy completion: text, finish reason, usage if asked, [DONE]. Errors are as in chats. `echo`: comes first. */
export function textChunks({ jobId, createdS, model, includeUsage }: ChatStreamHead, echo: string): FeedEncoder {
  const head = `data: {"id":${JSON.stringify(jobId)},"object":"text_completion","created":${createdS},"model":${JSON.stringify(model)}`;
  const chunk = (text: string, finishReason: string): string =>
    `${head},"choices":[{"index":0,"text":${JSON.stringify(text)},"logprobs":null,"finish_reason":${finishReason}}]}\n\n`;
  return {
    prologue: echo === "" ? "" : chunk(echo, "null"),
    item: (item) => (item.type === "token" ? chunk(item.content, "null") : ""),
    ending(ending) {
      if (ending.type === "error") return errorLine(ending);
      const used = chatUsage({ ...ending.usage, costMicro: ending.creditsUsedMicro });
      const usage = includeUsage ? `${head},"choices":[],"usage":${JSON.stringify(used)}}\n\n` : "";
      return `${chunk("", JSON.stringify(ending.finishReason))}${usage}data: [DONE]\n\n`;
    },
    cut: (because) => errorLine({ ...CUTS[because], retryable: true }),
  };
}
