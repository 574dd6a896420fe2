import { z } from "zod";
import { isTextRuntime } from "../../shared/cargo.ts";
import { TEXT_TASK_INPUTS, TEXT_TASK_OUTPUTS, type TextTask } from "../../shared/text-task.ts";
import { chatInputSchema, DEFAULT_OUTPUT_TOKENS, DEFAULT_TEMPERATURE } from "../../shared/chat-input.ts";
import type { CargoFile } from "./cargo-fields.ts";
import { RUNTIMES, type JsonSchema } from "./runtimes.ts";

const { properties: allMembers = {}, ...chatObject } = z.toJSONSchema(chatInputSchema, {
  io: "input",
  target: "draft-2020-12",
});
/** Members that clients may send. */
const { read: _, ...chatMembers } = allMembers;
/** Values that `chatRequestOf` and `toolUseOf` use for missing or null members; forms show them. */
const CHAT_DEFAULTS: Readonly<Record<string, unknown>> = {
  max_tokens: DEFAULT_OUTPUT_TOKENS,
  temperature: DEFAULT_TEMPERATURE,
  parallel_tool_calls: true,
};

export const chatInputJsonSchema: JsonSchema = Object.freeze({
  ...chatObject,
  properties: Object.fromEntries(
    Object.entries(chatMembers).map(([name, member]) => [
      name,
      name in CHAT_DEFAULTS && typeof member === "object" ? { ...member, default: CHAT_DEFAULTS[name] } : member,
    ]),
  ),
  // Zod cannot derive the refinement of chatInputSchema that this expresses.
  oneOf: [{ required: ["prompt"] }, { required: ["messages"] }],
});

const schemasOf = (task: TextTask): { readonly input: JsonSchema; readonly output: JsonSchema } => ({
  input: z.toJSONSchema(TEXT_TASK_INPUTS[task], { io: "input", target: "draft-2020-12" }),
  output: z.toJSONSchema(TEXT_TASK_OUTPUTS[task]),
});
const TEXT_TASK_SCHEMAS: Readonly<Record<TextTask, ReturnType<typeof schemasOf>>> = {
  "feature-extraction": schemasOf("feature-extraction"),
  "text-ranking": schemasOf("text-ranking"),
};

export function defaultInputSchemaOf({ runtime_type, task }: Pick<CargoFile, "runtime_type" | "task">): JsonSchema {
  if (!isTextRuntime(runtime_type)) return {};
  return task === undefined ? chatInputJsonSchema : TEXT_TASK_SCHEMAS[task].input;
}

/**
 * Returns the JSON Schema (2020-12) against which the outputs of a Cargo are checked: its own, or that of its task or
 * runtime. `{}` allows any JSON value.
 */
export function outputSchemaOf({
  output_schema,
  runtime_type,
  onnx_task_type: onnxTask,
  task,
}: Pick<CargoFile, "output_schema" | "runtime_type" | "onnx_task_type" | "task">): JsonSchema {
  if (output_schema !== undefined) return output_schema;
  const { output, tasks } = RUNTIMES[runtime_type];
  if (task !== undefined) return TEXT_TASK_SCHEMAS[task].output;
  return onnxTask === null ? output : (tasks?.get(onnxTask) ?? {});
}
