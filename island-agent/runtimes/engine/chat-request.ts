import { randomUUID } from "node:crypto";
import { type ContentPart, dataUrlOf, imageBytesOf, imageProblem } from "../../../shared/chat-images.ts";
import type { ChatMessage, ChatRequest } from "../../../shared/chat-input.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { RunRequest } from "../runtime.ts";
import type { EngineModel, EngineProfile } from "./engine-profile.ts";

interface EngineRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Returns the request of a chat to an engine, in OpenAI's form. `resume`: the text to continue. */
export function chatRequestTo(
  { resume: continuation, chatMembers }: Pick<EngineProfile, "resume" | "chatMembers">,
  { id }: Pick<EngineModel, "id">,
  chat: ChatRequest,
  { resume, cacheKey }: Pick<RunRequest, "resume" | "cacheKey">,
): EngineRequest {
  const common = {
    model: id,
    ...samplingOf(chat),
    max_tokens: Math.max(1, chat.maxTokens - (resume?.tokens ?? 0)),
    stream: true,
    stream_options: { include_usage: true },
  };
  const own = chatMembers?.(chat, cacheKey ?? randomUUID());
  if (chat.isRaw) {
    const prompt = chat.messages.map(({ content }) => content).join("") + (resume?.text ?? "");
    return { path: "/v1/completions", body: { ...common, prompt, ...own } };
  }
  const messages = chat.messages.map(messageOf);
  if (resume !== null) messages.push({ role: "assistant", content: resume.text });
  return {
    path: "/v1/chat/completions",
    body: {
      ...common,
      messages,
      ...(chat.responseFormat.type === "text" ? {} : { response_format: chat.responseFormat }),
      ...toolsOf(chat),
      ...(chat.topLogprobs === null ? {} : { logprobs: true, top_logprobs: chat.topLogprobs }),
      ...(resume === null ? {} : continuation),
      ...own,
    },
  };
}

function samplingOf(chat: ChatRequest): Record<string, unknown> {
  const { topP, topK, minP, seed, stop, frequencyPenalty, presencePenalty, repeatPenalty, logitBias } = chat;
  return {
    temperature: chat.temperature,
    ...(topP === null ? {} : { top_p: topP }),
    ...(topK === null ? {} : { top_k: topK }),
    ...(minP === null ? {} : { min_p: minP }),
    ...(seed === null ? {} : { seed }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(frequencyPenalty === 0 ? {} : { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty === 0 ? {} : { presence_penalty: presencePenalty }),
    ...(repeatPenalty === 1 ? {} : { repeat_penalty: repeatPenalty }),
    ...(logitBias.length === 0 ? {} : { logit_bias: Object.fromEntries(logitBias) }),
    ...(chat.reasoningEffort === null ? {} : { reasoning_effort: chat.reasoningEffort }),
  };
}

/** Templates of open models have no role `developer`; its messages are the system's. */
function messageOf(message: ChatMessage): Record<string, unknown> {
  const { role, content, parts, tool_calls: calls, tool_call_id: answered } = message;
  return {
    role: role === "developer" ? "system" : role,
    content: parts?.map(partOf) ?? content,
    ...(calls === undefined ? {} : { tool_calls: calls }),
    ...(answered === undefined ? {} : { tool_call_id: answered }),
  };
}

/** An engine would download an address, so only data URLs go to it, with the type that their bytes have. */
function partOf(part: ContentPart): ContentPart {
  if (part.type === "text") return part;
  const bytes = imageBytesOf(part.image_url.url);
  const problem = bytes === null ? "is not a data URL" : imageProblem(bytes);
  if (bytes === null || problem !== null)
    throw new JobFailure("invalid_input", `An image of the chat ${problem ?? ""}`);
  return { type: "image_url", image_url: { url: dataUrlOf(bytes) } };
}

function toolsOf({ toolUse }: ChatRequest): Record<string, unknown> {
  if (toolUse === null) return {};
  const tools = toolUse.tools.map(({ name, description, parameters, isStrict }) => ({
    type: "function",
    function: { name, ...(description === null ? {} : { description }), parameters, strict: isStrict === true },
  }));
  return {
    tools,
    tool_choice: toolUse.isRequired ? "required" : "auto",
    parallel_tool_calls: toolUse.maxCalls > 1,
  };
}
