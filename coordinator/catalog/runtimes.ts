import { z } from "zod";
import type { RuntimeType } from "../../shared/cargo.ts";
import { imageOutputSchema, ONNX_OUTPUTS, tensorsOutputSchema, TEXT_TO_IMAGE } from "../../shared/onnx-task.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Fields of a Cargo that only some runtimes have. */
export const RUNTIME_FIELDS = [
  "onnx_task_type",
  "task",
  "parts",
  "projector",
  "reads_images",
  "adapters",
  "reasoning",
  "tools",
  "weights",
  "container",
  "args",
  "context_tokens",
  "model",
  "input_schema",
  "output_schema",
] as const;
type RuntimeField = (typeof RUNTIME_FIELDS)[number];

/** Facts about a runtime. `shared/cargo.ts` states which models are folders. */
interface RuntimeFacts {
  readonly needs: readonly RuntimeField[];
  readonly mayHave: readonly RuntimeField[];
  /** Values of `onnx_task_type`, with the output schema of each. */
  readonly tasks?: ReadonlyMap<string, JsonSchema>;
  /** Output schema of Cargos without a task and without their own schema. */
  readonly output: JsonSchema;
  /** Format of programs in a single file: file extension at /models, and magic number; null if the format has none. */
  readonly file?: { readonly ending: string; readonly magic: Buffer | null };
  /** Whether Islands are recommended to preload its Cargos. Source: spec §2; Core ML Cargos are not recommended. */
  readonly isRecommended: boolean;
}

const IMAGE: JsonSchema = z.toJSONSchema(imageOutputSchema);
const TENSORS: JsonSchema = z.toJSONSchema(tensorsOutputSchema);
const ONNX = Object.entries(ONNX_OUTPUTS).map(([task, schema]): [string, JsonSchema] => [task, z.toJSONSchema(schema)]);

export const RUNTIMES: Readonly<Record<RuntimeType, RuntimeFacts>> = {
  llmcpp: {
    needs: ["model", "context_tokens"],
    mayHave: ["task", "parts", "projector", "adapters", "reasoning", "tools"],
    output: z.toJSONSchema(z.string().describe("Text of all `token` events")),
    file: { ending: "gguf", magic: Buffer.from("GGUF", "latin1") },
    isRecommended: true,
  },
  engine: {
    needs: ["model", "context_tokens"],
    mayHave: ["task", "reads_images", "reasoning", "tools"],
    output: z.toJSONSchema(z.string().describe("Text of all `token` events")),
    isRecommended: false,
  },
  onnx: {
    needs: ["model", "input_schema"],
    mayHave: ["onnx_task_type", "weights", "output_schema"],
    tasks: new Map(ONNX),
    output: TENSORS,
    file: { ending: "onnx", magic: null },
    isRecommended: true,
  },
  diffusers: {
    needs: ["model", "input_schema"],
    mayHave: ["weights"],
    output: IMAGE,
    isRecommended: true,
  },
  /** Core ML runs the files of the onnx and diffusers runtimes (docs/reference/cargo-format.md). */
  coreml: {
    needs: ["model", "input_schema"],
    mayHave: ["onnx_task_type", "weights", "output_schema"],
    tasks: new Map([...ONNX, [TEXT_TO_IMAGE, IMAGE]]),
    output: TENSORS,
    isRecommended: false,
  },
  wasm: {
    needs: ["model", "input_schema"],
    mayHave: ["args", "output_schema"],
    output: {},
    file: { ending: "wasm", magic: Buffer.from("\0asm", "latin1") },
    isRecommended: true,
  },
  container: {
    needs: ["container", "input_schema"],
    mayHave: ["output_schema"],
    output: {},
    isRecommended: true,
  },
};
