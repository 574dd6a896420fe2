import { z } from "zod";
import { imageOutputSchema, ONNX_OUTPUTS, tensorsOutputSchema, TEXT_TO_IMAGE } from "../../shared/onnx-task.ts";
import { chatInputSchema } from "../../shared/chat-input.ts";
import type { CargoFile } from "./cargo-fields.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** JSON Schema (2020-12) of the input of chat Cargos, which all share it. */
export const chatInputJsonSchema: JsonSchema = Object.freeze({
  ...z.toJSONSchema(chatInputSchema, { io: "input", target: "draft-2020-12" }),
  // The refinement of chatInputSchema: zod cannot derive a counterpart.
  oneOf: [{ required: ["prompt"] }, { required: ["messages"] }],
});

const BY_TASK: ReadonlyMap<string, JsonSchema> = new Map(
  [...Object.entries(ONNX_OUTPUTS), [TEXT_TO_IMAGE, imageOutputSchema] as const].map(([task, schema]) => [
    task,
    z.toJSONSchema(schema),
  ]),
);
const TEXT = z.toJSONSchema(z.string().describe("The answer, as its `token` events said it"));
const IMAGE = z.toJSONSchema(imageOutputSchema);
const TENSORS = z.toJSONSchema(tensorsOutputSchema);

/**
 * JSON Schema (2020-12) of the output of a Cargo's jobs. Results are checked against it. Without an own
 * `output_schema` it is that of the task or runtime; for a wasm module or container `{}`, which allows any JSON value.
 */
export function outputSchemaOf({
  output_schema,
  runtime_type,
  onnx_task_type: task,
}: Pick<CargoFile, "output_schema" | "runtime_type" | "onnx_task_type">): JsonSchema {
  if (output_schema !== undefined) return output_schema;
  switch (runtime_type) {
    case "llmcpp":
      return TEXT;
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
