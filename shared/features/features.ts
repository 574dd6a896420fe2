import { z } from "zod";
import { BASE_OUTPUT_TOKENS, FIRST_MESSAGES, type ChatInput } from "../chat-input.ts";
import { looseTools } from "../grammar/call-schema.ts";
import { FIRST_TOOLS_BYTES, toolUseOf } from "../chat-tools.ts";
import { isFirstGrammar } from "../grammar/grammar-keywords.ts";

/** Names of agent features beyond the first version of the protocol, in `features` of `hello`. */
export const AGENT_FEATURES = [
  "chat.images",
  "chat.json",
  "chat.large",
  "chat.logprobs",
  "chat.long",
  "chat.raw",
  "chat.read",
  "chat.sampling2",
  "chat.schema2",
  "chat.tools",
  "chat.tools-json",
] as const;
type AgentFeature = (typeof AGENT_FEATURES)[number];

/** Features of the runtimes of every agent, reported or not. Only engines of hosts may lack them. */
export const BASE_FEATURES: readonly AgentFeature[] = ["chat.json"];

const MAX_FEATURES = 32;

/** Features of a peer. Unknown names are kept, because another coordinator may know them. */
export const featuresSchema = z
  .array(z.string().regex(/^[a-z0-9._-]{1,40}$/, "must be a feature name"))
  .max(MAX_FEATURES);

/** Returns the features that an Island needs to run a chat, sorted. */
export function chatFeaturesOf(input: ChatInput): readonly AgentFeature[] {
  const format = input.response_format;
  const toolUse = toolUseOf(input);
  const isJson = format != null && format.type !== "text";
  const required: Record<AgentFeature, boolean> = {
    "chat.images": input.messages?.some(({ content }) => typeof content !== "string") === true,
    "chat.json": isJson,
    "chat.large": isLarge(input) || (toolUse !== null && looseTools(toolUse.tools).size > 0),
    "chat.logprobs": input.logprobs === true,
    "chat.long": (input.max_tokens ?? 0) > BASE_OUTPUT_TOKENS,
    "chat.raw": input.raw === true,
    "chat.read": input.read !== undefined,
    "chat.sampling2": SAMPLING2.some((name) => input[name] != null),
    "chat.schema2": format?.type === "json_schema" && !isFirstGrammar(format.json_schema.schema),
    // An older agent leaves tool calls out of the history.
    "chat.tools": toolUse !== null || input.messages?.some((message) => message.tool_calls) === true,
    "chat.tools-json": toolUse !== null && isJson && !toolUse.isRequired,
  };
  return AGENT_FEATURES.filter((name) => required[name]);
}

/** Returns whether agents of earlier versions would refuse the chat because of its size. */
function isLarge({ messages, tools }: ChatInput): boolean {
  const toolBytes = tools == null ? 0 : Buffer.byteLength(JSON.stringify(tools));
  return (messages?.length ?? 0) > FIRST_MESSAGES || toolBytes > FIRST_TOOLS_BYTES;
}

const SAMPLING2 = ["top_k", "min_p", "repeat_penalty", "logit_bias"] as const;
