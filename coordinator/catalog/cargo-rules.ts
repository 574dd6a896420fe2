import { isIP } from "node:net";
import { TEXT_TO_IMAGE } from "../../shared/onnx-task.ts";
import { TEXT_TASK_INPUTS, taskOf } from "../../shared/text-task.ts";
import { isTextRuntime } from "../../shared/cargo.ts";
import { chatInputSchema } from "../../shared/chat-input.ts";
import type { FieldError } from "../../shared/errors.ts";
import { isPrivateAddress } from "../../shared/net/private-address.ts";
import { fieldErrorsOf } from "../../shared/zod-errors.ts";
import { creditsFromMicro } from "../credits/micro-credits.ts";
import { IMAGE_SIZE_FIELDS, isPromptTask, pricingOf, referencePriceOf } from "../credits/pricing.ts";
import { cargoFields, type CargoFile } from "./cargo-fields.ts";
import { DECLARED_PREFIX, isDeclaredAddress, isEngineAddress, isSplitFile } from "../../shared/model-address.ts";
import { isHubFolder } from "./cargo-pins.ts";
import { inputSchemas, SchemaError } from "./input-schema.ts";
import { MAX_LOOP_STEPS } from "./schema-rules.ts";
import { RUNTIME_FIELDS, RUNTIMES } from "./runtimes.ts";

/**
 * Memory in MiB that a Cargo's process uses besides what it loads; also stated in catalog/README.md. Measured
 * for tiny-chat with node-llama-cpp 3.22.1, four sequences, no GPU: 116 MiB resident, of which 9 are weights, KV cache
 * and compute buffer (2026-11-21, x64, 2 cores).
 */
export const PROCESS_MB = 192;

/** Host names that exist only in a local network. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|home\.arpa)$/;

/** Returns whether clients may use the Cargo as `model` of a chat. */
export function isChatFile({ runtime_type, task }: Pick<CargoFile, "runtime_type" | "task">): boolean {
  return isTextRuntime(runtime_type) && task === undefined;
}

/** Returns the problems of a Cargo each of whose fields is valid. */
export function cargoProblems(file: CargoFile): FieldError[] {
  return [
    ...fieldProblems(file),
    ...memoryProblems(file),
    ...taskProblems(file),
    ...addressProblems(file),
    ...chatProblems(file),
    ...inputProblems(file),
    ...pricingProblems(file),
    ...problemsOfSchema("output_schema", file.output_schema),
  ];
}

function fieldProblems(file: CargoFile): FieldError[] {
  const { needs, mayHave } = RUNTIMES[file.runtime_type];
  return RUNTIME_FIELDS.flatMap((field) => {
    const isSet = file[field] !== null && file[field] !== undefined;
    const isRequired = needs.includes(field);
    if (isRequired && !isSet) return [{ path: field, message: `is required for ${file.runtime_type} Cargos` }];
    if (isRequired || mayHave.includes(field) || !isSet) return [];
    const reason = field === "input_schema" ? ", whose input is that of a chat or of their task" : "";
    return [{ path: field, message: `is not allowed for ${file.runtime_type} Cargos${reason}` }];
  });
}

/** Checks that a wasm Cargo requires more memory than its process uses, so that some is left for the module. */
function memoryProblems({ runtime_type, required_ram_mb }: CargoFile): FieldError[] {
  if (runtime_type !== "wasm" || required_ram_mb > PROCESS_MB) return [];
  return [{ path: "required_ram_mb", message: `must be over ${PROCESS_MB}, which the process itself needs` }];
}

function taskProblems({ runtime_type, onnx_task_type: task, container, required_vram_mb }: CargoFile): FieldError[] {
  const problems: FieldError[] = [];
  const { tasks } = RUNTIMES[runtime_type];
  if (tasks !== undefined && task !== null && !tasks.has(task)) {
    problems.push({ path: "onnx_task_type", message: `must be one of ${[...tasks.keys()].join(", ")}` });
  }
  if (container !== undefined && required_vram_mb > 0 && !container.gpu) {
    problems.push({ path: "required_vram_mb", message: "must be 0 for a container without a GPU" });
  }
  return problems;
}

function addressProblems(file: CargoFile): FieldError[] {
  const { parts = [], projector, adapters = [] } = file;
  return [
    ...modelProblems(file),
    ...parts.flatMap(({ url }, index) => prefixPaths(`parts.${index}`, urlProblems(url))),
    ...(projector === undefined ? [] : prefixPaths("projector", urlProblems(projector.url))),
    ...adapters.flatMap(({ url }, index) => prefixPaths(`adapters.${index}`, urlProblems(url))),
  ];
}

function chatProblems({
  task,
  projector,
  reads_images: readsImages,
  adapters,
  tools,
  reasoning,
}: CargoFile): FieldError[] {
  if (task === undefined) return [];
  const problems: FieldError[] = [];
  if (projector !== undefined) problems.push({ path: "projector", message: "is only for chats, not for tasks" });
  if (readsImages === true) problems.push({ path: "reads_images", message: "is only for chats, not for tasks" });
  if (adapters !== undefined) problems.push({ path: "adapters", message: "are only for chats, not for tasks" });
  if (tools !== undefined) problems.push({ path: "tools", message: "are only for chats, not for tasks" });
  if (reasoning === true) problems.push({ path: "reasoning", message: "is only for chats, not for tasks" });
  return problems;
}

function modelProblems(file: CargoFile): FieldError[] {
  const { model, slug } = file;
  const isDeclared = model !== null && isDeclaredAddress(model.url);
  if (isDeclared !== slug.startsWith(DECLARED_PREFIX)) {
    const message = `must begin with ${DECLARED_PREFIX} if, and only if, the model is engine:NAME`;
    return [{ path: "slug", message }];
  }
  if (model === null) return [];
  if (isHubFolder(file) && model.sha256 !== null) {
    return [
      { path: "model.sha256", message: "must be null for a folder of the hub. Pin a commit instead: hf:owner/repo#…" },
    ];
  }
  if (file.runtime_type === "engine" && !isEngineAddress(model.url)) {
    return [{ path: "model.url", message: "must be engine:NAME, or hf:owner/repo#COMMIT with a commit of 40 digits" }];
  }
  if (file.runtime_type !== "engine" && isDeclared) {
    return [{ path: "model.url", message: "may be engine:NAME only for engine Cargos" }];
  }
  return [...prefixPaths("model", urlProblems(model.url)), ...partProblems(file)];
}

/** An Island loads a split model only with all of its files, which its disk must hold together. */
function partProblems({ model, parts, adapters }: CargoFile): FieldError[] {
  if (parts === undefined) {
    if (!isSplitFile(model?.url.split("#")[0] ?? "")) return [];
    return [{ path: "parts", message: "is required: model.url names the first of several files; list the others" }];
  }
  const problems: FieldError[] = [];
  if (model?.sha256 == null) problems.push({ path: "model.sha256", message: "is required for a model with parts" });
  if (model?.size_bytes == null)
    problems.push({ path: "model.size_bytes", message: "is required for a model with parts" });
  if (adapters !== undefined) problems.push({ path: "adapters", message: "are not possible for a model with parts" });
  return problems;
}

function urlProblems(text: string): FieldError[] {
  if (!text.startsWith("https:")) return [];
  const url = URL.parse(text);
  if (url === null) return [{ path: "url", message: "is not a URL" }];
  if (url.username !== "" || url.password !== "") return [{ path: "url", message: "must not carry credentials" }];
  const problem = hostProblem(url);
  return problem === null ? [] : [{ path: "url", message: problem }];
}

/**
 * Returns why a host cannot be public; null if that depends on its addresses. URL has normalized forms like `0x7f.1`.
 */
export function hostProblem(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return isPrivateAddress(host) ? `${host} is a private address` : null;
  return !host.includes(".") || LOCAL_NAME.test(host) ? `${host} is a name of a local network` : null;
}

function inputProblems({ runtime_type, task, input_schema: schema, example_input }: CargoFile): FieldError[] {
  if (isTextRuntime(runtime_type)) {
    const parsed = (task === undefined ? chatInputSchema : TEXT_TASK_INPUTS[task]).safeParse(example_input);
    return parsed.success ? [] : prefixPaths("example_input", fieldErrorsOf(parsed.error, example_input));
  }
  if (schema === undefined) return [];
  const problems = problemsOfSchema("input_schema", schema);
  if (problems.length > 0) return problems;
  const bytes = JSON.stringify(example_input).length;
  // `cargo-service.ts` has these checked in a thread.
  if (inputSchemas.stepsOf(schema, example_input, bytes) > MAX_LOOP_STEPS) return [];
  return prefixPaths("example_input", inputSchemas.errorsOf(schema, example_input, bytes));
}

/** Checks that `pricing` has the form for this kind of Cargo, and that `price_per_job` follows from it. */
function pricingProblems(file: CargoFile): FieldError[] {
  const { pricing, price_per_job: price } = file;
  // The schema reports an invalid `pricing`.
  if (pricing === undefined || !cargoFields.pricing.safeParse(pricing).success) return [];
  const expected = pricingFormOf(file);
  const form = Object.keys(pricing).filter((name) => name !== "reference");
  if (expected === null) {
    const message = `is not allowed for this Cargo, whose jobs cost price_per_job each. ${PRICED_CARGOS}`;
    return [{ path: "pricing", message }];
  }
  if (form.join() !== expected.join())
    return [{ path: "pricing", message: `must name ${expected.join(" and ")} for this Cargo, not ${form.join(", ")}` }];
  const named = creditsFromMicro(referencePriceOf(pricingOf(pricing)));
  if (named === 0)
    return [{ path: "pricing", message: "must cost something; for a free Cargo, set only price_per_job to 0" }];
  if (named === price) return [];
  const message = `must be ${named}, the cost of a job of the reference size by pricing. Remove one of the two, or change pricing`;
  return [{ path: "price_per_job", message }];
}

const PRICED_CARGOS =
  "Chats, embeddings, rerankers, transcription and images with the inputs width, height and steps can have pricing";

/** Returns the names of the prices that `pricing` has for a kind of Cargo; null if it is priced only per job. */
function pricingFormOf(file: CargoFile): readonly string[] | null {
  if (isChatFile(file)) return ["prompt", "completion"];
  const task = taskOf({ task: file.task, onnxTaskType: file.onnx_task_type });
  if (isPromptTask(task)) return ["prompt"];
  if (task === "automatic-speech-recognition") return ["audio_second"];
  const properties = file.input_schema?.["properties"] ?? {};
  const isSized = IMAGE_SIZE_FIELDS.every((name) => Object.hasOwn(properties, name));
  return isSized && (file.runtime_type === "diffusers" || task === TEXT_TO_IMAGE) ? ["megapixel_step"] : null;
}

function problemsOfSchema(field: string, schema: Readonly<Record<string, unknown>> | undefined): FieldError[] {
  if (schema === undefined) return [];
  try {
    inputSchemas.assertUsable(schema);
  } catch (error) {
    if (error instanceof SchemaError) return prefixPaths(field, error.problems);
    throw error;
  }
  return [];
}

function prefixPaths(field: string, problems: readonly FieldError[]): FieldError[] {
  return problems.map(({ path, message }) => ({ path: path === "" ? field : `${field}.${path}`, message }));
}
