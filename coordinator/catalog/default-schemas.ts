import { z } from "zod";
import { imageOutputSchema, ONNX_OUTPUTS, tensorsOutputSchema, TEXT_TO_IMAGE } from "../../shared/onnx-task.ts";
import { chatInputSchema } from "../../shared/chat-input.ts";
import type { CargoFile } from "./cargo-fields.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** JSON Schema (2020-12) of what a client may send to a chat Cargo. Made once: all chat Cargos share it. */
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
 * JSON Schema (2020-12) of what a job of the Cargo puts out. It describes; nothing is checked against it. A file that says nothing
 * has the schema of its task or runtime; a wasm module or container may then put out any JSON value: `{}`.
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
