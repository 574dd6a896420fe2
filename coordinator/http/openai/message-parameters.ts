import type { ParameterRule } from "./parameters.ts";

const BLOCKS = "messages are text; no Cargo takes pictures, documents or results of searches";
const TOOLS = "no tools are called";
const PRICE = "about speed and price at Anthropic";

const PROMPT: readonly ParameterRule[] = [
  { name: "model", rule: "honoured", note: "a chat Cargo, or an alias of one" },
  { name: "messages", rule: "honoured", note: "1 to 120" },
  { name: "messages[].role", rule: "honoured", note: "user, assistant" },
  { name: "messages[].content", rule: "honoured", note: "text, or a list of text blocks, which are joined" },
  { name: "messages[].content[].type", rule: "honoured", note: "`text`; other kinds are refused" },
  { name: "messages[].content[].text", rule: "honoured", note: "" },
  { name: "messages[].content[].cache_control", rule: "ignored", note: PRICE },
  { name: "messages[].content[].citations", rule: "ignored", note: "an earlier answer of another service" },
  { name: "messages[].content[].source", rule: "refused", note: BLOCKS },
  { name: "system", rule: "honoured", note: "text, or a list of text blocks, which are joined" },
  { name: "system[].type", rule: "honoured", note: "`text`" },
  { name: "system[].text", rule: "honoured", note: "" },
  { name: "system[].cache_control", rule: "ignored", note: PRICE },
  { name: "system[].citations", rule: "ignored", note: "an earlier answer of another service" },
];

const NOT_SERVED: readonly ParameterRule[] = [
  { name: "tools", rule: "refused", note: TOOLS, neutral: [[]] },
  { name: "tool_choice", rule: "refused", note: TOOLS, neutral: [{ type: "none" }, { type: "auto" }] },
  {
    name: "thinking",
    rule: "refused",
    note: "thoughts of models are not shown",
    neutral: [{ type: "disabled" }],
  },
  { name: "cache_control", rule: "ignored", note: PRICE },
  { name: "speed", rule: "ignored", note: "there is one" },
  { name: "user_profile_id", rule: "ignored", note: "a label for Anthropic" },
  { name: "workspace_id", rule: "ignored", note: "a label for Anthropic" },
];

/** Parameters of `POST /messages`. Source of the names: Anthropic's API. */
export const MESSAGE_PARAMETERS: readonly ParameterRule[] = [
  ...PROMPT,
  { name: "max_tokens", rule: "honoured", note: "required" },
  { name: "temperature", rule: "honoured", note: "0 to 1, default 1" },
  { name: "top_p", rule: "honoured", note: "" },
  { name: "top_k", rule: "honoured", note: "0: any number" },
  { name: "stop_sequences", rule: "honoured", note: "up to 4; an answer that one ends has the stop reason `end_turn`" },
  { name: "stream", rule: "honoured", note: "" },
  { name: "output_config", rule: "honoured", note: "" },
  { name: "output_config.format", rule: "honoured", note: "`json_schema`" },
  { name: "output_config.effort", rule: "refused", note: "no Cargo has levels of effort" },
  ...NOT_SERVED,
  { name: "container", rule: "refused", note: "there is no code execution" },
  { name: "metadata", rule: "ignored", note: "a label for Anthropic" },
  { name: "service_tier", rule: "ignored", note: "there is one" },
  { name: "diagnostics", rule: "ignored", note: "for Anthropic's own use" },
  { name: "inference_geo", rule: "refused", note: "Islands are where they are" },
];

/** Parameters of `POST /messages/count_tokens`. */
export const COUNT_TOKENS_PARAMETERS: readonly ParameterRule[] = [
  ...PROMPT,
  ...NOT_SERVED,
  { name: "output_config", rule: "ignored", note: "no part of the prompt" },
];
