import type { RuntimeType } from "../../shared/cargo.ts";
import { chatInputSchema } from "../../shared/chat-input.ts";
import type { FieldError } from "../../shared/errors.ts";
import type { CargoFile } from "./cargo-file.ts";
import { hostProblem } from "./public-address.ts";
import { words } from "./words.ts";
import { inputSchemas, SchemaError } from "./input-schema.ts";

/** transformers.js pipelines that an Island's onnx runtime knows. Source: DESIGN §7. */
export const ONNX_TASKS = words(`
  text-classification feature-extraction token-classification question-answering summarization
  translation automatic-speech-recognition text-to-speech object-detection image-segmentation
  image-to-text depth-estimation zero-shot-classification fill-mask
`);

type OptionalField = "onnx_task_type" | "weights" | "container" | "args" | "context_tokens" | "model" | "input_schema";
type Need = "needed" | "may" | "never";

/** Which runtime has which fields; what is not said here is for every runtime alike. */
const NEEDS: Record<RuntimeType, Record<OptionalField, Need>> = {
  llmcpp: needs({ model: "needed", context_tokens: "needed" }),
  onnx: needs({ model: "needed", onnx_task_type: "may", weights: "may", input_schema: "needed" }),
  diffusers: needs({ model: "needed", weights: "may", input_schema: "needed" }),
  coreml: needs({ model: "needed", input_schema: "needed" }),
  wasm: needs({ model: "needed", args: "may", input_schema: "needed" }),
  container: needs({ container: "needed", input_schema: "needed" }),
};

function needs(some: Partial<Record<OptionalField, Need>>): Record<OptionalField, Need> {
  return {
    onnx_task_type: "never",
    weights: "never",
    container: "never",
    args: "never",
    context_tokens: "never",
    model: "never",
    input_schema: "never",
    ...some,
  };
}

/** What is wrong with a Cargo whose fields are right one by one: what goes with what, addresses, schema and example. */
export function cargoProblems(file: CargoFile): FieldError[] {
  return [...fieldProblems(file), ...taskProblems(file), ...addressProblems(file), ...schemaAndExampleProblems(file)];
}

function fieldProblems(file: CargoFile): FieldError[] {
  return Object.entries(NEEDS[file.runtime_type]).flatMap(([field, need]) => {
    const value = file[field as OptionalField];
    const isThere = value !== null && value !== undefined;
    if (need === "needed" && !isThere) return [{ path: field, message: `is needed by ${file.runtime_type} Cargos` }];
    if (need !== "never" || !isThere) return [];
    if (field === "input_schema") return [{ path: field, message: "is that of chat for llmcpp Cargos" }];
    return [{ path: field, message: `is not for ${file.runtime_type} Cargos` }];
  });
}

function taskProblems({ runtime_type, onnx_task_type: task, container, required_vram_mb }: CargoFile): FieldError[] {
  const problems: FieldError[] = [];
  if (runtime_type === "onnx" && task !== null && !ONNX_TASKS.includes(task)) {
    problems.push({ path: "onnx_task_type", message: `must be one of ${ONNX_TASKS.join(", ")}` });
  }
  if (container !== undefined && required_vram_mb > 0 && !container.gpu) {
    problems.push({ path: "required_vram_mb", message: "must be 0 for a container that is granted no GPU" });
  }
  return problems;
}

function addressProblems({ model }: CargoFile): FieldError[] {
  if (model === null || !model.url.startsWith("https:")) return [];
  const url = URL.parse(model.url);
  if (url === null) return [{ path: "model.url", message: "is not a URL" }];
  if (url.username !== "" || url.password !== "") return [{ path: "model.url", message: "must not carry credentials" }];
  const problem = hostProblem(url);
  return problem === null ? [] : [{ path: "model.url", message: problem }];
}

function schemaAndExampleProblems({ runtime_type, input_schema: schema, example_input }: CargoFile): FieldError[] {
  if (runtime_type === "llmcpp") {
    const parsed = chatInputSchema.safeParse(example_input);
    return parsed.success
      ? []
      : under(
          "example_input",
          parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })),
        );
  }
  if (schema === undefined) return [];
  try {
    inputSchemas.assertUsable(schema);
  } catch (error) {
    if (error instanceof SchemaError) return under("input_schema", error.problems);
    throw error;
  }
  return under("example_input", inputSchemas.errorsOf(schema, example_input, 0));
}

function under(field: string, problems: readonly FieldError[]): FieldError[] {
  return problems.map(({ path, message }) => ({ path: path === "" ? field : `${field}.${path}`, message }));
}
