import type { OpenAI } from "openai";
import type { Api } from "../api.ts";
import { completeWith } from "../scripted-chats.ts";
import { DONE, makeJob } from "../scripted-jobs.ts";
import { describeParameters } from "./parameter-cases.ts";

const item = (members: object) => [{ role: "user", content: "Ho", ...members }];
const part = (members: object) => item({ content: [{ type: "input_text", text: "Ho", ...members }] });
const image = (members: object) =>
  item({ content: [{ type: "input_image", image_url: "https://images.example/a.png", ...members }] });
const CALL = { type: "function_call", call_id: "call_1", name: "sum", arguments: "{}" };
const called = (members: object) => [{ ...CALL, ...members }];
const told = (output: unknown) => [CALL, { type: "function_call_output", call_id: "call_1", output }];
const custom = (members: object) => [
  { type: "custom_tool_call", call_id: "call_1", name: "patch", input: "a", ...members },
];
const SUM = { type: "function", name: "sum" };
const NAMED = { type: "function", name: "sum" };
const ALLOWED = { type: "allowed_tools", mode: "required", tools: [NAMED] };
const tool = (members: object) => [{ ...SUM, ...members }];
const inside = (members: object) => [{ type: "namespace", name: "math", tools: tool(members) }];
const INSIDE = { tools: inside({}) };
const SCHEMA = { type: "json_schema", name: "none", schema: { type: "object", properties: {} } };

/** Every parameter of the official client. The type makes the list complete. */
const OFFICIAL: Required<{ [Name in keyof OpenAI.Responses.ResponseCreateParams]: unknown }> = {
  model: "second",
  input: "Ho",
  instructions: "Be kind.",
  previous_response_id: "resp_before",
  max_output_tokens: 7,
  temperature: 0,
  top_p: 0.5,
  text: { format: SCHEMA },
  stream: true,
  stream_options: { include_obfuscation: true },
  store: false,
  background: true,
  metadata: { a: "b" },
  tools: [SUM],
  tool_choice: "required",
  parallel_tool_calls: false,
  max_tool_calls: 3,
  include: ["message.output_text.logprobs"],
  reasoning: { effort: "none" },
  top_logprobs: 2,
  truncation: "auto",
  conversation: "conv_1",
  prompt: { id: "p" },
  context_management: [{ type: "compaction" }],
  moderation: { model: "omni" },
  image: {},
  access_programs: {},
  user: "someone",
  safety_identifier: "someone",
  service_tier: "flex",
  prompt_cache_key: "a",
  prompt_cache_options: {},
  prompt_cache_retention: "24h",
};

const CHOICES = {
  tool_choice: "required",
  "tool_choice.type": NAMED,
  "tool_choice.name": NAMED,
  "tool_choice.namespace": { ...NAMED, namespace: null },
  "tool_choice.mode": ALLOWED,
  "tool_choice.tools": ALLOWED,
  "tool_choice.tools[].type": ALLOWED,
  "tool_choice.tools[].name": ALLOWED,
  "tool_choice.tools[].namespace": ALLOWED,
};
const plainItem = { input: item({}) };
const plainPart = { input: part({}) };

describeParameters({
  endpoint: "POST /responses",
  base: { model: "tiny", input: "Hi" },
  samples: {
    ...OFFICIAL,
    "input[]": item({}),
    "input[].type": item({ type: "message" }),
    "input[].role": item({ role: "developer" }),
    "input[].content": item({ content: "He" }),
    "input[].content[].type": part({ type: "input_text" }),
    "input[].content[].text": part({ text: "He" }),
    "input[].content[].image_url": image({}),
    "input[].content[].detail": image({ detail: "high" }),
    "input[].content[].file_id": image({ file_id: "file_1" }),
    "input[].content[].annotations": part({ annotations: [] }),
    "input[].content[].logprobs": part({ logprobs: [] }),
    "input[].call_id": called({ call_id: "call_2" }),
    "input[].name": called({ name: "add" }),
    "input[].namespace": called({ namespace: "math" }),
    "input[].arguments": called({ arguments: '{"a":1}' }),
    "input[].input": custom({ input: "b" }),
    "input[].action": [{ type: "local_shell_call", call_id: "call_1", action: { command: ["ls"] } }],
    "input[].output": told("15"),
    "input[].output[].type": told([{ type: "input_text", text: "15" }]),
    "input[].output[].text": told([{ type: "input_text", text: "15" }]),
    "input[].output[].annotations": told([{ type: "input_text", text: "15", annotations: [] }]),
    "input[].output[].logprobs": told([{ type: "input_text", text: "15", logprobs: [] }]),
    "tools[]": [SUM],
    "tools[].type": tool({}),
    "tools[].name": tool({ name: "add" }),
    "tools[].description": tool({ description: "Adds." }),
    "tools[].parameters": tool({ parameters: SCHEMA.schema }),
    "tools[].strict": tool({ strict: true }),
    "tools[].defer_loading": tool({ defer_loading: true }),
    "tools[].allowed_callers": tool({ allowed_callers: ["programmatic"] }),
    "tools[].async": tool({ async: true }),
    "tools[].output_schema": tool({ output_schema: {} }),
    "tools[].tools": inside({}),
    "tools[].tools[]": inside({}),
    "tools[].tools[].type": inside({}),
    "tools[].tools[].name": inside({ name: "add" }),
    "tools[].tools[].description": inside({ description: "Adds." }),
    "tools[].tools[].parameters": inside({ parameters: SCHEMA.schema }),
    "tools[].tools[].strict": inside({ strict: true }),
    "tools[].tools[].defer_loading": inside({ defer_loading: true }),
    "tools[].tools[].allowed_callers": inside({ allowed_callers: ["programmatic"] }),
    "tools[].tools[].async": inside({ async: true }),
    "tools[].tools[].output_schema": inside({ output_schema: {} }),
    "include[]": ["message.output_text.logprobs"],
    "input[].caller": called({ caller: { type: "direct" } }),
    client_metadata: { a: "b" },
    ...CHOICES,
    "reasoning.effort": { effort: "none" },
    "reasoning.summary": { summary: "auto" },
    "reasoning.generate_summary": { generate_summary: "auto" },
    "reasoning.context": { context: "all_turns" },
    "reasoning.mode": { mode: "pro" },
    "input[].id": [{ type: "item_reference", id: "msg_before" }, ...item({})],
    "input[].status": item({ status: "completed" }),
    "input[].phase": item({ phase: "final_answer" }),
    "text.format": { format: SCHEMA },
    "text.format.type": { format: { type: "json_object" } },
    "text.format.name": { format: { ...SCHEMA, name: "all" } },
    "text.format.description": { format: { ...SCHEMA, description: "Nothing" } },
    "text.format.schema": { format: SCHEMA },
    "text.format.strict": { format: { ...SCHEMA, strict: true } },
    "text.verbosity": { verbosity: "low" },
  },
  context: {
    ...Object.fromEntries(Object.keys(CHOICES).map((name) => [name, { tools: [SUM] }])),
    parallel_tool_calls: { tools: [SUM] },
    "tools[].defer_loading": { tools: [SUM] },
    "tools[].allowed_callers": { tools: [SUM] },
    "tools[].output_schema": { tools: [SUM] },
    "tools[].tools[].defer_loading": INSIDE,
    "tools[].tools[].allowed_callers": INSIDE,
    "tools[].tools[].output_schema": INSIDE,
    "text.format.description": { text: { format: SCHEMA } },
    "input[].caller": { input: called({}) },
    "input[].status": plainItem,
    "input[].phase": plainItem,
    "input[].content[].annotations": plainPart,
    "input[].content[].detail": { input: image({}) },
    "input[].content[].logprobs": plainPart,
    "input[].output[].annotations": { input: told([{ type: "input_text", text: "15" }]) },
    "input[].output[].logprobs": { input: told([{ type: "input_text", text: "15" }]) },
  },
  arrange: (api: Api) => {
    completeWith(api, "Hel", "lo");
    const before = {
      previous_response_id: null,
      metadata: {},
      background: false,
      store: true,
      format: { type: "text" },
    };
    const input = { messages: [{ role: "user", content: "Once" }], response: before };
    const feed = api.jobs.add(makeJob({ id: "job_before", accountId: api.accountId, state: "completed", input }));
    feed.end(DONE);
  },
});
