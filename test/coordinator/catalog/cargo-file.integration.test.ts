import { describe, expect, it } from "vitest";
import { cargoOf, readCargoFile } from "../../../coordinator/catalog/cargo-file.ts";
import { imageReference, manifestOf } from "../../../shared/cargo.ts";
import { CHAT_FILE, CONTAINER_FILE, ONNX_FILE } from "./cargo-builders.ts";

const CHAT = CHAT_FILE;
const ONNX = ONNX_FILE;
const WASM = { ...ONNX, runtime_type: "wasm", onnx_task_type: null, weights: undefined, category: "utility" };

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
  it("adds default limits of 300 s to run and 3600 s to wait", () => {
    expect(read(CHAT)).toMatchObject({ runLimitMs: 300_000, waitLimitMs: 3_600_000, onnxTaskType: null });
  });
  it("reads the optional output limit of a job, up to 64 MB", () => {
    expect(read({ ...CHAT, max_output_bytes: 67_108_864 }).maxOutputBytes).toBe(67_108_864);
    expect(read(CHAT).maxOutputBytes).toBeUndefined();
    expect(errorsOf({ ...CHAT, max_output_bytes: 67_108_865 })).toEqual([expect.stringContaining("max_output_bytes")]);
  });
  it("makes every llmcpp Cargo a chat Cargo with the same schema of chat input", () => {
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
  it("uses the schemas of the task for an llmcpp Cargo with a task, which is not a chat Cargo", () => {
    const embedder = read({ ...CHAT, task: "feature-extraction", example_input: { input: ["a", "b"] } });
    expect(embedder).toMatchObject({ isChat: false, task: "feature-extraction" });
    expect(Object.keys(embedder.inputSchema["properties"] as object)).toEqual(["input", "normalize"]);
    expect(Object.keys(embedder.outputSchema["properties"] as object)).toEqual(["embeddings"]);
    const ranker = read({ ...CHAT, task: "text-ranking", example_input: { query: "a", documents: ["b"] } });
    expect(Object.keys(ranker.inputSchema["properties"] as object)).toEqual(["query", "documents"]);
    expect(Object.keys(ranker.outputSchema["properties"] as object)).toEqual(["scores"]);
    expect(manifestOf(ranker).task).toBe("text-ranking");
    expect(manifestOf(read(CHAT))).not.toHaveProperty("task");
  });
  it("reads the adapters of a chat Cargo, each with its pin", () => {
    const adapter = { url: "hf:owner/tune:lora.gguf", sha256: "a".repeat(64) };
    const { adapters } = manifestOf(read({ ...CHAT, adapters: [adapter, { ...adapter, scale: 0.5, size_bytes: 7 }] }));
    expect(adapters).toEqual([
      { ...adapter, sizeBytes: null, scale: 1 },
      { ...adapter, sizeBytes: 7, scale: 0.5 },
    ]);
    const errors = (fields: object): string => errorsOf({ ...CHAT, ...fields }).join();
    expect(errors({ adapters: [{ ...adapter, sha256: null }] })).toContain("adapters.0.sha256");
    expect(errors({ adapters: [{ ...adapter, url: "https://127.0.0.1/a.gguf" }] })).toContain("adapters.0.url");
    expect(errors({ adapters: Array.from({ length: 5 }, () => adapter) })).toContain("adapters");
    const ranker = { task: "text-ranking", example_input: { query: "a", documents: ["b"] } };
    expect(errors({ ...ranker, adapters: [adapter] })).toBe("adapters: are only for chats, not for tasks");
    expect(errorsOf({ ...ONNX, adapters: [adapter] }).join()).toContain("adapters: is not allowed for onnx Cargos");
  });
  it("reads further files of a split model and its projector, each pinned", () => {
    const first = { url: "hf:owner/repo/x-00001-of-00002.gguf#main", sha256: "a".repeat(64), size_bytes: 5 };
    const file = { url: "hf:owner/repo/x-00002-of-00002.gguf#main", sha256: "b".repeat(64), size_bytes: 7 };
    const ref = { url: file.url, sha256: file.sha256, sizeBytes: 7 };
    const split = { ...CHAT, model: first, parts: [file], projector: file };
    expect(manifestOf(read(split))).toMatchObject({ parts: [ref], projector: ref });
    const errors = (fields: object): string => errorsOf({ ...split, ...fields }).join();
    expect(errors({ parts: undefined })).toContain("parts: is required: model.url names the first of several files");
    expect(errors({ parts: [{ ...file, sha256: null }] })).toContain("parts.0.sha256");
    expect(errors({ parts: [{ ...file, url: "https://127.0.0.1/a.gguf" }] })).toContain("parts.0.url");
    expect(errors({ projector: { ...file, url: "https://127.0.0.1/a.gguf" } })).toContain("projector.url");
    expect(errors({ model: { ...first, size_bytes: null } })).toContain("model.size_bytes: is required");
    expect(errors({ adapters: [{ url: file.url, sha256: file.sha256 }] })).toContain("adapters: are not possible");
    const ranker = { task: "text-ranking", example_input: { query: "a", documents: ["b"] } };
    expect(errors(ranker)).toBe("projector: is only for chats, not for tasks");
  });
  it("reads the time that a Cargo stays in memory, from 0 s to a week", () => {
    expect(manifestOf(read({ ...CHAT, keep_alive_s: 1.5 })).keepAliveMs).toBe(1_500);
    expect(manifestOf(read({ ...ONNX, keep_alive_s: 0 })).keepAliveMs).toBe(0);
    expect(manifestOf(read(CHAT))).not.toHaveProperty("keepAliveMs");
    for (const seconds of [-1, 604_801]) expect(errorsOf({ ...CHAT, keep_alive_s: seconds })).toHaveLength(1);
  });
  it("gives other Cargos their own schema", () => {
    expect(read(ONNX)).toMatchObject({
      isChat: false,
      inputSchema: ONNX.input_schema,
      onnxTaskType: "text-classification",
    });
  });
  it("reads the optional parameters and quantization", () => {
    expect(read({ ...CHAT, parameters: "8B", quantization: "Q4_K_M" })).toMatchObject({
      parameters: "8B",
      quantization: "Q4_K_M",
    });
    expect(read(CHAT)).not.toHaveProperty("parameters");
  });
});

const withImage = (image: string) => ({ ...CONTAINER_FILE, container: { ...CONTAINER_FILE.container, image } });
const withModel = (url: string) => ({ ...ONNX, model: { ...ONNX.model, url } });
const withSchema = (input_schema: object) => ({ ...ONNX, input_schema });

describe("manifestOf()", () => {
  it("includes what the runtimes need in addition to the model", () => {
    expect(manifestOf(read(ONNX))).toMatchObject({ weights: "q8", onnxTaskType: "text-classification" });
    expect(manifestOf(read({ ...WASM, args: ["-c", "x"] }))).toMatchObject({ args: ["-c", "x"] });
    const { container } = manifestOf(read(CONTAINER_FILE));
    expect(container).toEqual(CONTAINER_FILE.container);
    if (container === undefined) throw new Error("has no container");
    expect(imageReference(container)).toBe(`docker.io/library/busybox:1.37@sha256:${"a".repeat(64)}`);
  });
  it("omits what a runtime does not use", () => {
    expect(Object.keys(manifestOf(read(CHAT)))).not.toEqual(expect.arrayContaining(["weights"]));
    expect(manifestOf(read(ONNX))).not.toHaveProperty("container");
  });
});

describe("readCargoFile()", () => {
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
    ["negative memory", { ...CHAT, required_ram_mb: -1 }, "required_ram_mb: "],
    ["chat without a model", modelless, "model: is required for llmcpp Cargos"],
    ["chat without a context", { ...CHAT, context_tokens: null }, "context_tokens: is required for llmcpp Cargos"],
    [
      "an input schema for chat",
      { ...CHAT, input_schema: {} },
      "input_schema: is not allowed for llmcpp Cargos, whose input is",
    ],
    ["a missing schema for onnx", { ...ONNX, input_schema: undefined }, "input_schema: is required for onnx Cargos"],
    ["a text task for onnx", { ...ONNX, task: "text-ranking" }, "task: is not allowed for onnx Cargos"],
    ["an unknown task", { ...CHAT, task: "poetry" }, "task: "],
    [
      "an example of ranking without documents",
      { ...CHAT, task: "text-ranking", example_input: { query: "a", documents: [] } },
      "example_input.documents: ",
    ],
    [
      "an ONNX task for llmcpp",
      { ...CHAT, onnx_task_type: "fill-mask" },
      "onnx_task_type: is not allowed for llmcpp Cargos",
    ],
    ["an unknown ONNX task", { ...ONNX, onnx_task_type: "mind-reading" }, "onnx_task_type: must be one of text-"],
    [
      "image generation for onnx, which has its own runtime",
      { ...ONNX, onnx_task_type: "text-to-image" },
      "onnx_task_type: must be one of text-",
    ],
    [
      "an unknown Core ML task",
      { ...ONNX, runtime_type: "coreml", onnx_task_type: "text-generation" },
      "onnx_task_type: must be one of text-",
    ],
    ["an output schema for chat", { ...CHAT, output_schema: {} }, "output_schema: is not allowed for llmcpp Cargos"],
    [
      "an external output schema",
      { ...CONTAINER_FILE, output_schema: { $ref: "https://a.example/s" } },
      "output_schema.$ref: must name a definition",
    ],
    ["a text that cannot be signed", { ...WASM, args: ["\ud800"] }, "args.0: must be well-formed Unicode"],
    ["an address that cannot be signed", withModel("hf:a/b\udc00"), "model.url: must be well-formed Unicode"],
    ["weights for a module", { ...WASM, weights: "q8" }, "weights: is not allowed for wasm Cargos"],
    [
      "a container without an image",
      { ...CONTAINER_FILE, container: undefined },
      "container: is required for container",
    ],
    [
      "a container with a model",
      { ...CONTAINER_FILE, model: ONNX.model },
      "model: is not allowed for container Cargos",
    ],
    ["an image without a tag", withImage("docker.io/library/busybox"), "container.image: must be registry/name:tag"],
    ["an image without a registry", withImage("busybox:1.37"), "container.image: must be registry/name:tag"],
    ["VRAM without a GPU", { ...CONTAINER_FILE, required_vram_mb: 64 }, "required_vram_mb: must be 0 for a container"],
    ["a model on this machine", withModel("https://127.0.0.1/a"), "model.url: 127.0.0.1 is a private address"],
    ["a model on this machine, spelled out", withModel("https://0x7f.1/a"), "model.url: 127.0.0.1 is a private"],
    ["a model in a private IPv6 network", withModel("https://[fd00::1]/a"), "model.url: fd00::1 is a private address"],
    ["a mapped private address", withModel("https://[::ffff:10.0.0.1]/a"), "is a private address"],
    ["a model on the local network", withModel("https://nas.local/a"), "model.url: nas.local is a name of a local"],
    ["a password in an address", withModel("https://a:b@example.com/a"), "model.url: must not carry credentials"],
    [
      "a hash for a hub folder",
      { ...ONNX, model: { ...ONNX.model, url: "hf:owner/repo", sha256: "a".repeat(64) } },
      "model.sha256: must be null for a folder of the hub",
    ],
    [
      "an external input schema",
      withSchema({ $ref: "https://a.example/s" }),
      "input_schema.$ref: must name a definition",
    ],
    ["an example that violates the schema", { ...ONNX, example_input: {} }, "example_input.text: is required"],
    ["an invalid example of a chat", { ...CHAT, example_input: {} }, "example_input.messages: exactly one"],
  ])("rejects %s", (title, file, problem) => {
    expect(errorsOf(file), title).toEqual([expect.stringContaining(problem)]);
  });
  it("reports every invalid field at once", () => {
    expect(errorsOf({ ...CHAT, category: "fun", runtime_type: "java" })).toHaveLength(2);
  });
  it("rejects text that is not JSON", () => {
    expect(readCargoFile("{")).toEqual({
      errors: [{ path: "", message: expect.stringContaining("is not JSON") as string }],
    });
  });
});
