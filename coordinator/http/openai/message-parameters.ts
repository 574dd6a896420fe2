import { hasOtherType, type ParameterRule } from "./parameters.ts";

/** Whether a tool is one of Anthropic's own. */
export const isBuiltInTool = hasOtherType("custom");

const BLOCKS = "messages are text; no Cargo takes pictures, documents or results of searches";
const PRICE = "about speed and price at Anthropic";

const PROMPT: readonly ParameterRule[] = [
  { name: "model", rule: "honoured", note: "a chat Cargo, or an alias of one" },
  { name: "messages", rule: "honoured", note: "1 to 4,096, with at most 16,384 parts together" },
  { name: "messages[].role", rule: "honoured", note: "user, assistant, system" },
  { name: "messages[].content", rule: "honoured", note: "text, or a list of blocks; texts are joined" },
  {
    name: "messages[].content[].type",
    rule: "honoured",
    note: "`text`, `tool_use`, `tool_result`, and `thinking`, which the model is not shown; other kinds are refused",
  },
  { name: "messages[].content[].text", rule: "honoured", note: "" },
  { name: "messages[].content[].id", rule: "honoured", note: "of a `tool_use`" },
  { name: "messages[].content[].name", rule: "honoured", note: "of a `tool_use`" },
  { name: "messages[].content[].input", rule: "honoured", note: "of a `tool_use`" },
  { name: "messages[].content[].tool_use_id", rule: "honoured", note: "of a `tool_result`" },
  { name: "messages[].content[].content", rule: "honoured", note: "of a `tool_result`: text, or text blocks" },
  { name: "messages[].content[].content[].type", rule: "honoured", note: "`text`; other kinds are refused" },
  { name: "messages[].content[].content[].text", rule: "honoured", note: "" },
  { name: "messages[].content[].content[].cache_control", rule: "hint", note: PRICE },
  {
    name: "messages[].content[].content[].citations",
    rule: "hint",
    note: "an earlier answer of another service",
  },
  { name: "messages[].content[].thinking", rule: "hint", note: "an earlier answer" },
  { name: "messages[].content[].signature", rule: "hint", note: "an earlier answer" },
  { name: "messages[].content[].data", rule: "hint", note: "an earlier answer of another service" },
  { name: "messages[].content[].is_error", rule: "hint", note: "the model reads `content`" },
  { name: "messages[].content[].caller", rule: "hint", note: "an earlier answer" },
  { name: "messages[].content[].cache_control", rule: "hint", note: PRICE },
  { name: "messages[].content[].citations", rule: "hint", note: "an earlier answer of another service" },
  { name: "messages[].content[].source", rule: "refused", note: BLOCKS },
  { name: "system", rule: "honoured", note: "text, or a list of text blocks, which are joined" },
  { name: "system[].type", rule: "honoured", note: "`text`" },
  { name: "system[].text", rule: "honoured", note: "" },
  { name: "system[].cache_control", rule: "hint", note: PRICE },
  { name: "system[].citations", rule: "hint", note: "an earlier answer of another service" },
];

const MORE: readonly ParameterRule[] = [
  { name: "tools", rule: "honoured", note: "up to 128, 256 KB together" },
  {
    name: "tools[]",
    rule: "honoured",
    note: "your own; built-in ones such as web_search are hints: they are not offered to the model",
    isHint: isBuiltInTool,
  },
  { name: "tools[].type", rule: "honoured", note: "`custom`, or absent" },
  { name: "tools[].name", rule: "honoured", note: "1 to 64 of a-z, A-Z, 0-9, _ and -" },
  { name: "tools[].description", rule: "honoured", note: "a part of the prompt" },
  { name: "tools[].input_schema", rule: "honoured", note: "the schema of an object" },
  {
    name: "tools[].strict",
    rule: "honoured",
    note: "the input is valid by `input_schema`, or the answer fails (`schema_unmet`)",
  },
  { name: "tools[].cache_control", rule: "hint", note: PRICE },
  { name: "tools[].defer_loading", rule: "hint", note: "all tools are in the prompt", neutral: [false] },
  { name: "tools[].allowed_callers", rule: "hint", note: "the model calls them", neutral: [["direct"]] },
  { name: "tools[].eager_input_streaming", rule: "hint", note: "inputs are streamed as they are written" },
  { name: "tools[].input_examples", rule: "hint", note: "say them in `description`" },
  { name: "tool_choice", rule: "honoured", note: "auto, any, tool, none" },
  { name: "tool_choice.type", rule: "honoured", note: "" },
  { name: "tool_choice.name", rule: "honoured", note: "of a `tool`" },
  { name: "tool_choice.disable_parallel_tool_use", rule: "honoured", note: "" },
  {
    name: "thinking",
    rule: "honoured",
    note: "`disabled` (default), `adaptive`, `between_tools`, `enabled`; for Cargos that do not think, `enabled` is a hint",
  },
  { name: "thinking.type", rule: "honoured", note: "" },
  { name: "thinking.budget_tokens", rule: "honoured", note: "from 1024; of 2048 and more, 2048 are used" },
  { name: "thinking.display", rule: "hint", note: "thinking comes whole" },
  { name: "cache_control", rule: "hint", note: PRICE },
  { name: "speed", rule: "hint", note: "there is one", neutral: ["standard"] },
  {
    name: "context_management",
    rule: "hint",
    note: "prompts are sent to the model as they are",
    neutral: [{ edits: [] }],
  },
  { name: "user_profile_id", rule: "hint", note: "a label for Anthropic" },
  { name: "workspace_id", rule: "hint", note: "a label for Anthropic" },
];

/** Parameters of `POST /messages`. Source of the names: Anthropic's API. */
export const MESSAGE_PARAMETERS: readonly ParameterRule[] = [
  ...PROMPT,
  { name: "max_tokens", rule: "honoured", note: "required; lowered as in chats" },
  { name: "temperature", rule: "honoured", note: "0 to 1, default 1" },
  { name: "top_p", rule: "honoured", note: "above 0, up to 1" },
  { name: "top_k", rule: "honoured", note: "0: any number" },
  { name: "stop_sequences", rule: "honoured", note: "up to 4" },
  { name: "stream", rule: "honoured", note: "" },
  { name: "output_config", rule: "honoured", note: "" },
  { name: "output_config.format", rule: "honoured", note: "`json_schema`" },
  { name: "output_config.format.type", rule: "honoured", note: "" },
  { name: "output_config.format.schema", rule: "honoured", note: "as `response_format` of chats, with `strict`" },
  { name: "output_config.effort", rule: "hint", note: "use `thinking.budget_tokens`" },
  { name: "output_config.task_budget", rule: "hint", note: "use `max_tokens`" },
  ...MORE,
  { name: "container", rule: "refused", note: "there is no code execution" },
  { name: "metadata", rule: "hint", note: "a label for Anthropic" },
  { name: "service_tier", rule: "hint", note: "there is one", neutral: ["auto", "standard_only"] },
  { name: "diagnostics", rule: "hint", note: "for Anthropic's own use" },
  { name: "inference_geo", rule: "refused", note: "Islands are where they are" },
];

/** Parameters of `POST /messages/count_tokens`. */
export const COUNT_TOKENS_PARAMETERS: readonly ParameterRule[] = [
  ...PROMPT,
  ...MORE,
  { name: "output_config", rule: "hint", note: "no part of the prompt" },
];
