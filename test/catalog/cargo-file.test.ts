import { describe, expect, it } from "vitest";
import { cargoOf, readCargoFile } from "../../coordinator/catalog/cargo-file.ts";

const CHAT = {
  slug: "some-chat",
  name: "Some chat",
  description: "For tests",
  category: "llm",
  runtime_type: "llmcpp",
  licence: "MIT",
  price_per_job: 0.1,
  required_ram_mb: 512,
  required_vram_mb: 64,
  model: { url: "hf:owner/repo:file.gguf", sha256: null, size_bytes: null },
  context_tokens: 2_048,
  example_input: { prompt: "Hello" },
};
const ONNX = {
  ...CHAT,
  slug: "some-onnx",
  category: "text",
  runtime_type: "onnx",
  onnx_task_type: "text-classification",
  context_tokens: null,
  input_schema: { type: "object" },
};

function read(file: object) {
  const result = readCargoFile(JSON.stringify(file));
  if ("errors" in result) throw new Error(JSON.stringify(result.errors));
  return cargoOf(result.file);
}

function errorsOf(file: object): string[] {
  const result = readCargoFile(JSON.stringify(file));
  return "errors" in result ? result.errors.map(({ path, message }) => `${path}: ${message}`) : [];
}

describe("cargoOf()", () => {
  it("converts MB to bytes, seconds to ms and credits to micro-credits", () => {
    expect(read({ ...CHAT, run_limit_s: 1.5, wait_limit_s: 60 })).toMatchObject({
      requiredRamBytes: 536_870_912,
      requiredVramBytes: 67_108_864,
      runLimitMs: 1_500,
      waitLimitMs: 60_000,
      priceMicro: 100_000,
    });
  });
  it("fills in limits of 300 s to run and 3600 s to wait", () => {
    expect(read(CHAT)).toMatchObject({ runLimitMs: 300_000, waitLimitMs: 3_600_000, onnxTaskType: null });
  });
  it("makes every llmcpp Cargo a chat Cargo with the one schema of chat input", () => {
    const cargo = read(CHAT);
    expect(cargo.isChat).toBe(true);
    expect(cargo.inputSchema).toBe(read({ ...CHAT, slug: "other" }).inputSchema);
    expect(cargo.inputSchema).toMatchObject({
      type: "object",
      oneOf: [{ required: ["prompt"] }, { required: ["messages"] }],
    });
    expect(Object.keys(cargo.inputSchema["properties"] as object)).toEqual(
      expect.arrayContaining(["prompt", "messages", "system_prompt", "max_tokens", "seed", "response_format"]),
    );
  });
  it("gives other Cargos their own schema", () => {
    expect(read(ONNX)).toMatchObject({
      isChat: false,
      inputSchema: { type: "object" },
      onnxTaskType: "text-classification",
    });
  });
  it("keeps parameters and quantisation, and leaves them out where the file does", () => {
    expect(read({ ...CHAT, parameters: "8B", quantization: "Q4_K_M" })).toMatchObject({
      parameters: "8B",
      quantization: "Q4_K_M",
    });
    expect(read(CHAT)).not.toHaveProperty("parameters");
  });
});

describe("readCargoFile() refuses", () => {
  const { model: _, ...modelless } = CHAT;
  it.each<[string, object, string]>([
    ["an unknown field", { ...CHAT, prize_per_job: 1 }, ': Unrecognized key: "prize_per_job"'],
    ["a slug with capitals", { ...CHAT, slug: "Some" }, "slug: "],
    [
      "a price with 7 decimals",
      { ...CHAT, price_per_job: 0.000_000_1 },
      "price_per_job: must not have more than 6 decimals",
    ],
    ["a hash in capitals", { ...CHAT, model: { ...CHAT.model, sha256: "A".repeat(64) } }, "model.sha256: "],
    [
      "a model over http",
      { ...CHAT, model: { ...CHAT.model, url: "http://a/b" } },
      "model.url: must be hf:owner/repo[:file]",
    ],
    ["memory that is less than nothing", { ...CHAT, required_ram_mb: -1 }, "required_ram_mb: "],
    ["chat without a model", modelless, "model: is needed by llmcpp Cargos"],
    ["chat without a context", { ...CHAT, context_tokens: null }, "context_tokens: is needed by llmcpp Cargos"],
    ["an own schema for chat", { ...CHAT, input_schema: {} }, "input_schema: is that of chat for llmcpp Cargos"],
    ["no schema for others", { ...ONNX, input_schema: undefined }, "input_schema: is needed by all but llmcpp Cargos"],
    ["an ONNX task for others", { ...CHAT, onnx_task_type: "fill-mask" }, "onnx_task_type: is for onnx Cargos only"],
  ])("%s", (title, file, problem) => {
    expect(errorsOf(file), title).toEqual([expect.stringContaining(problem)]);
  });
  it("every wrong field at once", () => {
    expect(errorsOf({ ...CHAT, category: "fun", runtime_type: "java" })).toHaveLength(2);
  });
  it("what is not JSON", () => {
    expect(readCargoFile("{")).toEqual({
      errors: [{ path: "", message: expect.stringContaining("is not JSON") as string }],
    });
  });
});
