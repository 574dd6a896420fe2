import type { Anthropic } from "@anthropic-ai/sdk";
import { completeWith } from "../scripted-chats.ts";
import { encodePng } from "../../../support/models/test-images.ts";
import { describeParameters } from "./parameter-cases.ts";

const PNG = encodePng(1, 1, []).toString("base64");

type Names<T> = Required<{ [Name in keyof T]: unknown }>;

const block = (members: object) => [{ type: "text", text: "Ho", ...members }];
const message = (members: object) => [{ role: "user", content: block(members) }];
const cache = { cache_control: { type: "ephemeral" } };
const used = (members: object) => [
  { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "add", input: {}, ...members }] },
  { role: "user", content: "Well?" },
];
const answered = (members: object) => [
  { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "3", ...members }] },
];
const SCHEMA = { type: "object", properties: {} };
const SUM = { name: "sum", input_schema: SCHEMA };
const tool = (members: object) => [{ ...SUM, ...members }];
const ofTool = { tools: [SUM] };

const image = (source: object) => [
  {
    role: "user",
    content: [{ type: "image", source: { type: "url", url: "https://images.example/a.png", ...source } }],
  },
];

const PROMPT = {
  model: "second",
  messages: [{ role: "user", content: "Ho" }],
  "messages[].role": [{ role: "assistant", content: "Hi" }],
  "messages[].content": [{ role: "user", content: "Ho" }],
  "messages[].content[].type": message({}),
  "messages[].content[].text": message({ text: "He" }),
  "messages[].content[].id": used({ id: "call_2" }),
  "messages[].content[].name": used({ name: "sum" }),
  "messages[].content[].input": used({ input: { a: 1 } }),
  "messages[].content[].tool_use_id": answered({ tool_use_id: "call_2" }),
  "messages[].content[].content": answered({ content: "4" }),
  "messages[].content[].content[].type": answered({ content: block({}) }),
  "messages[].content[].content[].text": answered({ content: block({ text: "4" }) }),
  "messages[].content[].content[].cache_control": answered({ content: block(cache) }),
  "messages[].content[].content[].citations": answered({ content: block({ citations: [] }) }),
  "messages[].content[].thinking": message({ text: "Hi", thinking: "Hm" }),
  "messages[].content[].signature": message({ text: "Hi", signature: "a" }),
  "messages[].content[].data": message({ text: "Hi", data: "a" }),
  "messages[].content[].is_error": answered({ is_error: true }),
  "messages[].content[].caller": message({ text: "Hi", caller: { type: "direct" } }),
  "messages[].content[].cache_control": message({ text: "Hi", ...cache }),
  "messages[].content[].citations": message({ text: "Hi", citations: [] }),
  "messages[].content[].source": image({}),
  "messages[].content[].source.type": image({}),
  "messages[].content[].source.url": image({ url: "https://images.example/b.png" }),
  "messages[].content[].source.media_type": image({ type: "base64", media_type: "image/gif", data: PNG }),
  "messages[].content[].source.data": image({ type: "base64", media_type: "image/png", data: PNG }),
  system: "Be kind.",
  "system[].type": block({}),
  "system[].text": block({}),
  "system[].cache_control": block(cache),
  "system[].citations": block({ citations: [] }),
  tools: [SUM],
  "tools[]": [SUM],
  "tools[].type": tool({ type: "custom" }),
  "tools[].name": tool({ name: "add" }),
  "tools[].description": tool({ description: "Adds." }),
  "tools[].input_schema": [SUM],
  "tools[].strict": tool({ strict: true }),
  "tools[].cache_control": tool(cache),
  "tools[].defer_loading": tool({ defer_loading: true }),
  "tools[].allowed_callers": tool({ allowed_callers: ["code_execution_20260521"] }),
  "tools[].eager_input_streaming": tool({ eager_input_streaming: true }),
  "tools[].input_examples": tool({ input_examples: [{}] }),
  tool_choice: { type: "none" },
  "tool_choice.type": { type: "any" },
  "tool_choice.name": { type: "tool", name: "sum" },
  "tool_choice.disable_parallel_tool_use": { type: "auto", disable_parallel_tool_use: true },
  thinking: { type: "adaptive" },
  "thinking.type": { type: "adaptive" },
  // A budget needs a Cargo with reasoning, which dispatch/reasoning.integration.test.ts uses.
  "thinking.budget_tokens": { type: "adaptive", budget_tokens: null },
  "thinking.display": { type: "adaptive", display: "omitted" },
  cache_control: { type: "ephemeral" },
  speed: "fast",
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  user_profile_id: "someone",
  workspace_id: "ours",
};
/** Returns rows for blocks of a system text, without the ignored parameters. */
const CONTEXT = {
  "messages[].content[].content[].cache_control": { messages: answered({ content: block({}) }) },
  "messages[].content[].content[].citations": { messages: answered({ content: block({}) }) },
  "tool_choice.type": ofTool,
  "tool_choice.name": ofTool,
  "tool_choice.disable_parallel_tool_use": ofTool,
  "messages[].content[].is_error": { messages: answered({}) },
  "thinking.display": { thinking: { type: "adaptive" } },
  "tools[].cache_control": ofTool,
  "tools[].defer_loading": ofTool,
  "tools[].allowed_callers": ofTool,
  "tools[].eager_input_streaming": ofTool,
  "tools[].input_examples": ofTool,
  "system[].cache_control": { system: block({}) },
  "system[].citations": { system: block({}) },
};

const OFFICIAL: Names<Anthropic.MessageCreateParams> & Record<string, unknown> = {
  ...PROMPT,
  max_tokens: 7,
  temperature: 0,
  top_p: 0.5,
  top_k: 3,
  stop_sequences: ["."],
  stream: true,
  output_config: { format: { type: "json_schema", schema: SCHEMA } },
  container: "c",
  metadata: { user_id: "someone" },
  service_tier: "priority",
  diagnostics: {},
  inference_geo: "eu",
};

const arrange = (api: Parameters<typeof completeWith>[0]): void => completeWith(api, "Hel", "lo");

describeParameters({
  endpoint: "POST /messages",
  base: { model: "tiny", max_tokens: 20, messages: [{ role: "user", content: "Hi" }] },
  samples: {
    ...OFFICIAL,
    "output_config.format": { format: { type: "json_schema", schema: SCHEMA } },
    "output_config.format.type": { format: { type: "json_schema", schema: SCHEMA } },
    "output_config.format.schema": { format: { type: "json_schema", schema: SCHEMA } },
    "output_config.effort": { effort: "low" },
    "output_config.task_budget": { task_budget: { type: "tokens", total: 20_000 } },
  },
  context: CONTEXT,
  arrange,
});

const COUNTED: Names<Anthropic.MessageCountTokensParams> & Record<string, unknown> = {
  ...PROMPT,
  output_config: { format: { type: "json_schema", schema: SCHEMA } },
};

describeParameters({
  endpoint: "POST /messages/count_tokens",
  base: { model: "tiny", messages: [{ role: "user", content: "Hi" }] },
  samples: COUNTED,
  context: CONTEXT,
  arrange,
});
