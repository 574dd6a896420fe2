import { z } from "zod";
import { imageOutputSchema, ONNX_OUTPUTS, tensorsOutputSchema, TEXT_TO_IMAGE } from "../../shared/onnx-task.ts";
import { TEXT_TASK_INPUTS, TEXT_TASK_OUTPUTS, type TextTask } from "../../shared/text-task.ts";
import { chatInputSchema, DEFAULT_OUTPUT_TOKENS, DEFAULT_TEMPERATURE } from "../../shared/chat-input.ts";
import type { CargoFile } from "./cargo-fields.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

const { properties: chatMembers = {}, ...chatObject } = z.toJSONSchema(chatInputSchema, {
  io: "input",
  target: "draft-2020-12",
});
/** What `chatRequestOf` and `toolUseOf` take for a member that is missing or null, for forms. */
const CHAT_DEFAULTS: Readonly<Record<string, unknown>> = {
  max_tokens: DEFAULT_OUTPUT_TOKENS,
  temperature: DEFAULT_TEMPERATURE,
  parallel_tool_calls: true,
};

/** JSON Schema (2020-12) of the input of chat Cargos, which all share it. */
export const chatInputJsonSchema: JsonSchema = Object.freeze({
  ...chatObject,
  properties: Object.fromEntries(
    Object.entries(chatMembers).map(([name, member]) => [
      name,
      name in CHAT_DEFAULTS && typeof member === "object" ? { ...member, default: CHAT_DEFAULTS[name] } : member,
    ]),
  ),
  // The refinement of chatInputSchema: zod cannot derive a counterpart.
  oneOf: [{ required: ["prompt"] }, { required: ["messages"] }],
});

const BY_TASK: ReadonlyMap<string, JsonSchema> = new Map(
  [...Object.entries(ONNX_OUTPUTS), [TEXT_TO_IMAGE, imageOutputSchema] as const].map(([task, schema]) => [
    task,
    z.toJSONSchema(schema),
  ]),
);
const schemasOf = (task: TextTask): { readonly input: JsonSchema; readonly output: JsonSchema } => ({
  input: z.toJSONSchema(TEXT_TASK_INPUTS[task], { io: "input", target: "draft-2020-12" }),
  output: z.toJSONSchema(TEXT_TASK_OUTPUTS[task]),
});
const TEXT_TASK_SCHEMAS: Readonly<Record<TextTask, ReturnType<typeof schemasOf>>> = {
  "feature-extraction": schemasOf("feature-extraction"),
  "text-ranking": schemasOf("text-ranking"),
};
const TEXT = z.toJSONSchema(z.string().describe("The answer, as its `token` events said it"));
const IMAGE = z.toJSONSchema(imageOutputSchema);
const TENSORS = z.toJSONSchema(tensorsOutputSchema);

/** JSON Schema (2020-12) of the input of Cargos that have none of their own: those of llama.cpp. */
export function defaultInputSchemaOf({ runtime_type, task }: Pick<CargoFile, "runtime_type" | "task">): JsonSchema {
  if (runtime_type !== "llmcpp") return {};
  return task === undefined ? chatInputJsonSchema : TEXT_TASK_SCHEMAS[task].input;
}

/**
 * JSON Schema (2020-12) of the output of a Cargo's jobs. Results are checked against it. Without an own
 * `output_schema` it is that of the task or runtime; for a wasm module or container `{}`, which allows any JSON value.
 */
export function outputSchemaOf({
  output_schema,
  runtime_type,
  onnx_task_type: task,
  task: textTask,
}: Pick<CargoFile, "output_schema" | "runtime_type" | "onnx_task_type" | "task">): JsonSchema {
  if (output_schema !== undefined) return output_schema;
  switch (runtime_type) {
    case "llmcpp":
      return textTask === undefined ? TEXT : TEXT_TASK_SCHEMAS[textTask].output;
    case "diffusers":
      return IMAGE;
    case "onnx":
    case "coreml":
      return (task === null ? TENSORS : BY_TASK.get(task)) ?? {};
    case "wasm":
    case "container":
      return {};
    default:
      return runtime_type satisfies never;
  }
}
