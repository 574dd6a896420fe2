import { isJsonObject } from "../../../shared/json-value.ts";
import { isOtherTool } from "./chat-parameters.ts";
import { hasOtherType, type ParameterRule } from "./parameters.ts";

/** Whether a tool is neither a function nor a namespace of functions. */
export const isBuiltInTool = hasOtherType("function", "namespace");

const FUNCTIONS = "tools are functions of the client, called by the model";
const NO_SUMMARY = "reasoning comes whole, as items `reasoning`";
const LABEL = "a label for OpenAI";
const PRICE = "about speed and price at OpenAI";

/** Items of earlier turns without which the conversation means the same: the request has no results of these calls. */
export const ITEMS_LEFT_OUT = ["reasoning", "web_search_call", "file_search_call", "code_interpreter_call"] as const;

export const TEXT_LOGPROBS = "message.output_text.logprobs";
/** Given with every `reasoning` item. */
export const ENCRYPTED_REASONING = "reasoning.encrypted_content";
export const INCLUDABLE = [
  TEXT_LOGPROBS,
  ENCRYPTED_REASONING,
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
] as const;

/** Parameters of `POST /responses`. Source of the names: OpenAI's API. */
export const RESPONSE_PARAMETERS: readonly ParameterRule[] = [
  { name: "model", rule: "honoured", note: "default: the operator's default chat Cargo" },
  { name: "input", rule: "honoured", note: "a text, or 1 to 4,096 items with at most 16,384 parts together" },
  {
    name: "input[]",
    rule: "honoured",
    note: `${ITEMS_LEFT_OUT.map((type) => `\`${type}\``).join(", ")} are hints: they are not sent to the model`,
    isHint: isItemLeftOut,
  },
  {
    name: "input[].type",
    rule: "honoured",
    note: "`message`, calls `function_call`, `custom_tool_call`, `local_shell_call`, outputs `function_call_output`, `custom_tool_call_output`, and `item_reference`; other items are refused",
  },
  { name: "input[].role", rule: "honoured", note: "user, assistant, system, developer" },
  { name: "input[].content", rule: "honoured", note: "text, or a list of text parts, which are joined" },
  { name: "input[].content[].type", rule: "honoured", note: "`input_text`, `output_text`; other kinds are refused" },
  { name: "input[].content[].text", rule: "honoured", note: "" },
  { name: "input[].content[].annotations", rule: "hint", note: "an earlier answer" },
  { name: "input[].content[].logprobs", rule: "hint", note: "an earlier answer" },
  { name: "input[].call_id", rule: "honoured", note: "of a call, and of its output" },
  { name: "input[].name", rule: "honoured", note: "of a call" },
  { name: "input[].namespace", rule: "honoured", note: "of a call" },
  { name: "input[].arguments", rule: "honoured", note: "of a `function_call`: JSON text" },
  { name: "input[].input", rule: "honoured", note: 'of a `custom_tool_call`; the model reads `{"input": …}`' },
  { name: "input[].action", rule: "honoured", note: "of a `local_shell_call`; the model reads its JSON" },
  { name: "input[].output", rule: "honoured", note: "of a call: text, or a list of text parts" },
  { name: "input[].output[].type", rule: "honoured", note: "`input_text`; other kinds are refused" },
  { name: "input[].output[].text", rule: "honoured", note: "" },
  { name: "input[].caller", rule: "hint", note: "an earlier answer" },
  { name: "input[].id", rule: "honoured", note: "of an `item_reference`: an item of a stored response" },
  { name: "input[].status", rule: "hint", note: "an earlier answer" },
  { name: "input[].phase", rule: "hint", note: "an earlier answer" },
  { name: "instructions", rule: "honoured", note: "" },
  {
    name: "previous_response_id",
    rule: "honoured",
    note: "a stored response that has ended with an answer, whole or cut by `max_output_tokens`",
  },
  { name: "max_output_tokens", rule: "honoured", note: "lowered as in chats" },
  { name: "temperature", rule: "honoured", note: "0 to 2, default 0.7" },
  { name: "top_p", rule: "honoured", note: "above 0, up to 1" },
  { name: "text", rule: "honoured", note: "" },
  { name: "text.format", rule: "honoured", note: "`text`, `json_object`, `json_schema`" },
  { name: "text.format.type", rule: "honoured", note: "" },
  { name: "text.format.name", rule: "honoured", note: "in errors only" },
  { name: "text.format.description", rule: "hint", note: "the model sees only `input` and `instructions`" },
  { name: "text.format.schema", rule: "honoured", note: "as `response_format` of chats" },
  { name: "text.format.strict", rule: "honoured", note: "as `response_format` of chats" },
  { name: "text.verbosity", rule: "hint", note: "ask for it in `instructions`", neutral: ["medium"] },
  { name: "stream", rule: "honoured", note: "" },
  {
    name: "stream_options",
    rule: "refused",
    note: "events are not padded",
    neutral: [{}, { include_obfuscation: false }],
  },
  {
    name: "store",
    rule: "honoured",
    note: "default true; false: prompt and answer are removed at the end, however it comes",
  },
  { name: "background", rule: "honoured", note: "without `stream`, and with `store`" },
  { name: "metadata", rule: "honoured", note: "up to 16 texts" },
  { name: "tools", rule: "honoured", note: "up to 128, 256 KB together; calls by a grammar" },
  {
    name: "tools[]",
    rule: "honoured",
    note: "functions, and namespaces of functions; others such as web_search are hints: they are not offered to the model",
    isHint: isBuiltInTool,
  },
  ...functionRows("tools[]"),
  {
    name: "tools[].tools",
    rule: "honoured",
    note: "of a namespace: the model knows the function `lookup` of `crm` as `crm__lookup`",
  },
  {
    name: "tools[].tools[]",
    rule: "honoured",
    note: "functions; others are hints: they are not offered to the model",
    isHint: isOtherTool,
  },
  ...functionRows("tools[].tools[]"),
  { name: "tool_choice", rule: "honoured", note: "`none`, `auto`, `required`, a function, `allowed_tools`" },
  { name: "tool_choice.type", rule: "honoured", note: "" },
  { name: "tool_choice.name", rule: "honoured", note: "" },
  { name: "tool_choice.namespace", rule: "honoured", note: "" },
  { name: "tool_choice.mode", rule: "honoured", note: "of `allowed_tools`" },
  { name: "tool_choice.tools", rule: "honoured", note: "of `allowed_tools`" },
  {
    name: "parallel_tool_calls",
    rule: "honoured",
    note: "default true: up to 16 calls; of a named function always one",
  },
  { name: "max_tool_calls", rule: "hint", note: "it limits built-in tools, which are not run" },
  { name: "include", rule: "honoured", note: "" },
  {
    name: "include[]",
    rule: "honoured",
    note: `\`${TEXT_LOGPROBS}\`; \`${ENCRYPTED_REASONING}\` for Cargos that think, for others a hint; OpenAI's other values are hints`,
    isHint: hasNothingToInclude,
  },
  { name: "reasoning", rule: "honoured", note: "" },
  {
    name: "reasoning.effort",
    rule: "honoured",
    note: "`none` to `max`, for Cargos that think; for others a hint",
  },
  { name: "reasoning.summary", rule: "hint", note: NO_SUMMARY },
  { name: "reasoning.generate_summary", rule: "hint", note: NO_SUMMARY },
  { name: "reasoning.context", rule: "hint", note: "reasoning of earlier turns is not sent to the model" },
  { name: "reasoning.mode", rule: "hint", note: "there is one", neutral: ["standard"] },
  { name: "top_logprobs", rule: "honoured", note: "0 to 20, of text; more than 0 includes them" },
  { name: "truncation", rule: "hint", note: "a prompt that is too long is refused", neutral: ["disabled"] },
  { name: "conversation", rule: "refused", note: "use `previous_response_id`" },
  { name: "prompt", rule: "refused", note: "no prompts are stored" },
  { name: "context_management", rule: "hint", note: "nothing is compacted", neutral: [[]] },
  { name: "moderation", rule: "refused", note: "use `POST /moderations`" },
  { name: "image", rule: "refused", note: "responses are text" },
  { name: "access_programs", rule: "refused", note: "there are none" },
  { name: "client_metadata", rule: "hint", note: LABEL },
  { name: "user", rule: "hint", note: LABEL },
  { name: "safety_identifier", rule: "hint", note: LABEL },
  { name: "service_tier", rule: "hint", note: "there is one", neutral: ["auto", "default"] },
  { name: "prompt_cache_key", rule: "hint", note: PRICE },
  { name: "prompt_cache_options", rule: "hint", note: PRICE },
  { name: "prompt_cache_retention", rule: "hint", note: PRICE },
];

function functionRows(path: string): readonly ParameterRule[] {
  return [
    { name: `${path}.type`, rule: "honoured", note: "" },
    { name: `${path}.name`, rule: "honoured", note: "1 to 64 of a-z, A-Z, 0-9, _ and -" },
    { name: `${path}.description`, rule: "honoured", note: "a part of the prompt" },
    { name: `${path}.parameters`, rule: "honoured", note: "JSON Schema of an object, as in `text.format`" },
    {
      name: `${path}.strict`,
      rule: "honoured",
      note: "arguments are valid by `parameters`, or the answer fails (`schema_unmet`)",
    },
    { name: `${path}.defer_loading`, rule: "hint", note: "all tools are in the prompt", neutral: [false] },
    { name: `${path}.allowed_callers`, rule: "hint", note: FUNCTIONS, neutral: [["direct"]] },
    { name: `${path}.async`, rule: "refused", note: FUNCTIONS, neutral: [false] },
    { name: `${path}.output_schema`, rule: "hint", note: "outputs are texts" },
  ];
}

function isItemLeftOut(item: unknown): boolean {
  return isJsonObject(item) && ITEMS_LEFT_OUT.some((type) => type === item["type"]);
}

function hasNothingToInclude(name: unknown): boolean {
  return name !== TEXT_LOGPROBS && name !== ENCRYPTED_REASONING;
}
