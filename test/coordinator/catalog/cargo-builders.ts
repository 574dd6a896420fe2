import type { StoredCargo } from "../../../coordinator/store/catalog.ts";

/** Files of catalog/cargos as JSON, one for each kind of Cargo that tests need. */
export const CHAT_FILE = {
  slug: "some-chat",
  name: "Some chat",
  description: "For tests",
  category: "llm",
  runtime_type: "llmcpp",
  licence: "MIT",
  price_per_job: 0.1,
  required_ram_mb: 512,
  required_vram_mb: 64,
  model: { url: "hf:owner/repo:file.gguf", sha256: "d".repeat(64), size_bytes: null },
  context_tokens: 2_048,
  example_input: { prompt: "Hello" },
};

export const ONNX_FILE = {
  slug: "some-onnx",
  name: "Some ONNX",
  description: "For tests",
  category: "text",
  runtime_type: "onnx",
  onnx_task_type: "text-classification",
  licence: "MIT",
  price_per_job: 0.1,
  required_ram_mb: 512,
  required_vram_mb: 0,
  model: { url: `hf:owner/repo#${"c".repeat(40)}`, sha256: null, size_bytes: null },
  weights: "q8",
  input_schema: { type: "object", properties: { text: { type: "string", minLength: 1 } }, required: ["text"] },
  example_input: { text: "Hello" },
};

/** Address of another model, pinned like the model of {@link ONNX_FILE}. */
export const OTHER_MODEL = `hf:owner/other#${"c".repeat(40)}`;

export const CONTAINER_FILE = {
  ...ONNX_FILE,
  slug: "some-container",
  category: "utility",
  runtime_type: "container",
  onnx_task_type: null,
  model: null,
  weights: undefined,
  container: {
    image: "docker.io/library/busybox:1.37",
    digest: `sha256:${"a".repeat(64)}`,
    command: ["sh", "-c", "cat"],
    gpu: false,
    network: true,
  },
};

export function makeStored(override: Partial<StoredCargo> = {}): StoredCargo {
  return {
    slug: "some-onnx",
    ownerId: "user_1",
    file: ONNX_FILE,
    isEnabled: true,
    isApproved: true,
    revision: 1,
    createdAtMs: 1,
    updatedAtMs: 1,
    ...override,
  };
}
