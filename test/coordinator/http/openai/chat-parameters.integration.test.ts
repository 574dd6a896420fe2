import type { OpenAI } from "openai";
import { completeWith } from "../scripted-chats.ts";
import { encodePng } from "../../../support/models/test-images.ts";
import { describeParameters } from "./parameter-cases.ts";

const PNG = encodePng(1, 1, []).toString("base64");

type Params = OpenAI.ChatCompletionCreateParams;
type Message = OpenAI.ChatCompletionMessageParam;
/** Keys of every member of a union. */
type AnyKey<T> = T extends unknown ? keyof T & string : never;
type Part = Exclude<OpenAI.ChatCompletionContentPart | OpenAI.ChatCompletionContentPartRefusal, string>;

const ASKED = { role: "user" as const, content: "Hi" };
const CALL = { id: "call_1", type: "function" as const, function: { name: "sum", arguments: "{}" } };
const SCHEMA = { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] };
const FORMAT = { type: "json_schema", json_schema: { name: "sum", schema: SCHEMA } };
const message = (members: object) => [{ ...ASKED, ...members }];
const called = (members: object) => [ASKED, { role: "assistant", tool_calls: [{ ...CALL, ...members }] }];
const part = (members: object) => message({ content: [{ type: "text", text: "Hi", ...members }] });
const image = (members: object) =>
  message({ content: [{ type: "image_url", image_url: { url: "https://images.example/a.png", ...members } }] });
const tool = { type: "function" as const, function: { name: "sum", parameters: SCHEMA } };

/** Every parameter of the official client. The type makes the list complete. */
const OFFICIAL: Required<{ [Name in AnyKey<Params>]: unknown }> = {
  model: "second",
  messages: [{ role: "user", content: "Ho" }],
  max_completion_tokens: 7,
  max_tokens: 7,
  temperature: 0,
  top_p: 0.5,
  stop: ["."],
  seed: 4,
  frequency_penalty: 1,
  presence_penalty: 1,
  logit_bias: { 5: 3 },
  n: 2,
  stream: true,
  stream_options: { include_usage: true },
  response_format: { type: "json_object" },
  tools: [tool],
  tool_choice: "required",
  parallel_tool_calls: false,
  functions: [{ name: "sum" }],
  function_call: { name: "sum" },
  logprobs: true,
  top_logprobs: 2,
  reasoning_effort: "none",
  verbosity: "low",
  modalities: ["text", "audio"],
  audio: { format: "wav", voice: "alloy" },
  prediction: { type: "content", content: "x" },
  web_search_options: {},
  moderation: { model: "omni" },
  user: "someone",
  safety_identifier: "someone",
  metadata: { a: "b" },
  store: false,
  service_tier: "priority",
  prompt_cache_key: "a",
  prompt_cache_options: {},
  prompt_cache_retention: "24h",
};

const MESSAGES: Required<{ [Name in AnyKey<Message> as `messages[].${Name}`]: unknown }> = {
  "messages[].role": message({ role: "system" }),
  "messages[].content": message({ content: "Ho" }),
  "messages[].name": message({ name: "Ann" }),
  "messages[].tool_calls": [ASKED, { role: "assistant", content: null, tool_calls: [CALL] }],
  "messages[].tool_call_id": [
    ASKED,
    { role: "assistant", content: null, tool_calls: [CALL] },
    { role: "tool", content: "4", tool_call_id: "call_1" },
  ],
  "messages[].refusal": message({ refusal: "No" }),
  "messages[].audio": message({ audio: { id: "a" } }),
  "messages[].function_call": message({ function_call: { name: "sum", arguments: "{}" } }),
};

const CALLS = {
  "messages[].tool_calls[].id": called({ id: "call_2" }),
  "messages[].tool_calls[].type": called({}),
  "messages[].tool_calls[].function": called({}),
  "messages[].tool_calls[].function.name": called({ function: { ...CALL.function, name: "add" } }),
  "messages[].tool_calls[].function.arguments": called({ function: { ...CALL.function, arguments: "{ }" } }),
  "messages[].tool_calls[].index": called({ index: 0 }),
  "messages[].tool_calls[].extra_content": called({ extra_content: { google: {} } }),
};

const PARTS: Required<{ [Name in AnyKey<Part> as `messages[].content[].${Name}`]: unknown }> = {
  "messages[].content[].type": part({}),
  "messages[].content[].text": part({ text: "Ho" }),
  "messages[].content[].prompt_cache_breakpoint": part({ prompt_cache_breakpoint: { mode: "explicit" } }),
  "messages[].content[].image_url": image({}),
  "messages[].content[].input_audio": message({ content: [{ type: "input_audio", input_audio: { data: "" } }] }),
  "messages[].content[].file": message({ content: [{ type: "file", file: { file_id: "a" } }] }),
  "messages[].content[].refusal": message({ role: "assistant", content: [{ type: "refusal", refusal: "No" }] }),
};

const IMAGE: Required<{
  [Name in AnyKey<OpenAI.ChatCompletionContentPartImage.ImageURL> as `messages[].content[].image_url.${Name}`]: unknown;
}> = {
  "messages[].content[].image_url.url": image({ url: `data:image/png;base64,${PNG}` }),
  "messages[].content[].image_url.detail": image({ detail: "high" }),
};

const STREAM_OPTIONS: Required<{
  [Name in AnyKey<OpenAI.ChatCompletionStreamOptions> as `stream_options.${Name}`]: unknown;
}> = {
  "stream_options.include_usage": { include_usage: true },
  "stream_options.include_obfuscation": { include_obfuscation: true },
};

const JSON_SCHEMA: Required<{
  [Name in AnyKey<OpenAI.ResponseFormatJSONSchema["json_schema"]> as `response_format.json_schema.${Name}`]: unknown;
}> = {
  "response_format.json_schema.name": FORMAT,
  "response_format.json_schema.description": { ...FORMAT, json_schema: { ...FORMAT.json_schema, description: "A" } },
  "response_format.json_schema.schema": FORMAT,
  "response_format.json_schema.strict": { ...FORMAT, json_schema: { ...FORMAT.json_schema, strict: true } },
};

const NAMED = { type: "function", function: { name: "sum" } };
const ALLOWED = { type: "allowed_tools", allowed_tools: { mode: "required", tools: [NAMED] } };
const CHOICES = {
  tool_choice: "required",
  "tool_choice.type": NAMED,
  "tool_choice.function": NAMED,
  "tool_choice.function.name": NAMED,
  "tool_choice.allowed_tools": ALLOWED,
  "tool_choice.allowed_tools.mode": ALLOWED,
  "tool_choice.allowed_tools.tools": ALLOWED,
  "tool_choice.allowed_tools.tools[].type": ALLOWED,
  "tool_choice.allowed_tools.tools[].function": ALLOWED,
  "tool_choice.allowed_tools.tools[].function.name": ALLOWED,
};
const TOOL = {
  "tools[]": [tool],
  "tools[].type": [tool],
  "tools[].cache_control": [{ ...tool, cache_control: { type: "ephemeral" } }],
  "tools[].function": [tool],
  "tools[].function.name": [tool],
  "tools[].function.description": [{ ...tool, function: { ...tool.function, description: "Adds" } }],
  "tools[].function.parameters": [tool],
  "tools[].function.strict": [{ ...tool, function: { ...tool.function, strict: true } }],
};

const OF_OTHERS = {
  "messages[].cache_control": message({ cache_control: { type: "ephemeral" } }),
  "messages[].content[].role": part({ role: "assistant" }),
  "messages[].content[].cache_control": part({ cache_control: { type: "ephemeral" } }),
  "messages[].annotations": message({ annotations: [] }),
  "messages[].reasoning_content": message({ reasoning_content: "Hm" }),
  "messages[].reasoning": message({ reasoning: "Hm" }),
  "messages[].reasoning_details": message({ reasoning_details: [] }),
  "response_format.type": { type: "json_object" },
  "response_format.schema": { type: "json_object", schema: { type: "object" } },
  "response_format.json_schema": FORMAT,
  reasoning: { effort: "high", enabled: true },
  usage: { include: true },
  "usage.include": { include: true },
  top_k: 3,
  min_p: 0.1,
  repeat_penalty: 1.1,
  repetition_penalty: 1.1,
  grammar: 'root ::= "a"',
  json_schema: SCHEMA,
  guided_json: SCHEMA,
  guided_regex: "a+",
  guided_choice: ["a"],
  guided_grammar: 'root ::= "a"',
  structured_outputs: { choice: ["a"] },
  min_tokens: 4,
  ignore_eos: true,
  stop_token_ids: [4],
  chat_template_kwargs: { enable_thinking: false },
  keep_alive: "5m",
  cache_prompt: true,
};

describeParameters({
  endpoint: "POST /chat/completions",
  base: { messages: [ASKED] },
  samples: {
    ...OFFICIAL,
    ...MESSAGES,
    ...CALLS,
    ...PARTS,
    ...IMAGE,
    ...STREAM_OPTIONS,
    ...JSON_SCHEMA,
    ...TOOL,
    ...CHOICES,
    ...OF_OTHERS,
  },
  context: {
    "messages[].content[].image_url.detail": { messages: image({}) },
    "messages[].tool_calls[].index": { messages: called({}) },
    "messages[].tool_calls[].extra_content": { messages: called({}) },
    ...Object.fromEntries(Object.keys(CHOICES).map((name) => [name, { tools: [tool] }])),
    parallel_tool_calls: { tools: [tool] },
    "tools[].function.description": { tools: [tool] },
    "tools[].cache_control": { tools: [tool] },
    stream_options: { stream: true },
    usage: { stream: true },
    "usage.include": { stream: true },
    top_logprobs: { logprobs: true },
    "stream_options.include_usage": { stream: true },
    "stream_options.include_obfuscation": { stream: true },
    "response_format.json_schema.description": { response_format: FORMAT },
  },
  // The coordinator joins text parts.
  unseen: ["messages[].content[].type"],
  arrange: (api) => completeWith(api, "Hel", "lo"),
});
