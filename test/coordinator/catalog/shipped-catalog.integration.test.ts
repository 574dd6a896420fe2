import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openCatalog } from "../../../coordinator/catalog/catalog-sync.ts";
import type { CargoFile } from "../../../coordinator/catalog/cargo-fields.ts";
import { cargoOf, readCargoFile } from "../../../coordinator/catalog/cargo-file.ts";
import { missingPin } from "../../../coordinator/catalog/cargo-pins.ts";
import { checkInput } from "../../../coordinator/catalog/input-check.ts";
import { inputSchemas } from "../../../coordinator/catalog/input-schema.ts";
import { memoryNeedMb, targetOf } from "../../../coordinator/catalog/memory-need.ts";
import { parameterCount, workingNeedMb } from "./memory-need.ts";
import { CARGO_CATEGORIES, RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { testEnv } from "../../support/test-env.ts";
import { NumberingCatalogStore } from "./numbering-catalog-store.ts";

const CATALOG = fileURLToPath(new URL("../../../catalog", import.meta.url));
const FOLDER = /^(hf:[\w.-]+\/[\w.-]+|\/models\/[\w.-]+\/files\.json)$/;
/** Suffix of the address of a folder that the coordinator serves. */
const LIST = "/files.json";

const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function readShipped(): [string, CargoFile][] {
  return readdirSync(`${CATALOG}/cargos`).map((name): [string, CargoFile] => {
    const read = readCargoFile(readFileSync(`${CATALOG}/cargos/${name}`, "utf8"));
    if ("errors" in read) throw new Error(`${name}: ${JSON.stringify(read.errors)}`);
    return [name, read.file];
  });
}

/** Computes the memory from the file's data by the documented rule. */
function workedOut(file: CargoFile): { ramMb: number; vramMb: number } {
  const { memory, model, context_tokens: contextTokens, parameters, weights: format = "fp16" } = file;
  if (memory === undefined) throw new Error("states no memory figures");
  if ("working_mb" in memory) {
    if (file.runtime_type === "llmcpp") throw new Error("states no shape");
    const count = parameters === undefined ? 0 : parameterCount(parameters);
    const need = workingNeedMb(file.runtime_type, memory.working_mb, { count, format });
    // The GPU memory of a container is not computed, because its author states it.
    return file.container?.gpu === true ? { ...need, vramMb: file.required_vram_mb } : need;
  }
  if (model?.size_bytes == null || contextTokens === null) throw new Error("states no file size or no context");
  const { layers, kv_heads: kvHeads, head_dim: headDim, vocabulary, sequences } = memory;
  const shape = { fileBytes: model.size_bytes, layers, kvHeads, headDim, vocabulary, contextTokens, sequences };
  return memoryNeedMb(shape, targetOf(parameterCount(parameters ?? "")));
}

const shipped = readShipped();
const files = shipped.map(([, file]) => file);
const chats = files.filter((file) => file.runtime_type === "llmcpp");

describe("the shipped catalog", () => {
  it("loads, with tiny-chat as the default", async () => {
    const { catalog } = await openCatalog(testEnv({ catalogDirectory: CATALOG }), new NumberingCatalogStore());
    const isOn = (file: CargoFile): boolean => missingPin(file) === null;
    expect(catalog.list().map(({ slug }) => slug)).toEqual(files.filter(isOn).map(({ slug }) => slug));
    expect(catalog.list().length).toBeGreaterThanOrEqual(30);
  });
  it("pins every Cargo to its bytes, or states why not", () => {
    const wrong = files.filter((file) => (missingPin(file) === null) === (file.unpinned_reason !== undefined));
    expect(wrong.map(({ slug }) => slug)).toEqual([]);
  });
  it("contains at least 40 Cargos", () => {
    expect(shipped.length).toBeGreaterThanOrEqual(40);
  });
  it("covers every category, and every runtime except engines, which hosts choose", () => {
    expect(new Set(files.map((file) => file.category))).toEqual(new Set(CARGO_CATEGORIES));
    expect(new Set(files.map((file) => file.runtime_type))).toEqual(
      new Set(RUNTIME_TYPES.filter((type) => type !== "engine")),
    );
  });
  it("contains the Cargos that SPEC §4 names for each category", () => {
    const kinds = new Set(files.map((file) => `${file.category} ${file.onnx_task_type ?? file.runtime_type}`));
    expect([...kinds]).toEqual(
      expect.arrayContaining([
        "llm llmcpp",
        "llm container",
        "image diffusers",
        "image container",
        "audio automatic-speech-recognition",
        "audio text-to-speech",
        "vision object-detection",
        "vision image-segmentation",
        "vision image-to-text",
        "vision depth-estimation",
        "text text-classification",
        "text feature-extraction",
        "text token-classification",
        "text question-answering",
        "text translation",
        "text summarization",
        "utility wasm",
        "utility container",
      ]),
    );
  });
  it("includes chat models from half a billion to 70 billion parameters", () => {
    const billions = chats.map(({ parameters }) => parameterCount(parameters ?? "") / 1e9);
    expect(billions.filter((size) => size >= 0.4).length).toBeGreaterThanOrEqual(8);
    expect(Math.max(...billions)).toBeGreaterThan(69);
  });
  it("serves the model of tiny-chat itself", () => {
    const tiny = files.find((file) => file.slug === "tiny-chat");
    expect(tiny?.model?.url).toBe("/models/tiny-islander.gguf");
    expect(tiny?.price_per_job).toBeLessThanOrEqual(1);
    expect(tiny?.example_input).toEqual({ prompt: "Count from 3 to 9.", temperature: 0 });
  });
  it("contains exactly the models that the coordinator serves, with the stated size and hash", () => {
    const own = files.flatMap(({ model }) => (model?.url.startsWith("/models/") === true ? [model] : []));
    for (const { url, size_bytes: sizeBytes, sha256 } of own) {
      const bytes = readFileSync(`${CATALOG}${url}`);
      // The list of a folder contains its size.
      expect([url, url.endsWith(LIST) ? null : bytes.length]).toEqual([url, sizeBytes]);
      expect([url, sha256Of(bytes)]).toEqual([url, sha256]);
    }
    expect(own.map(({ url }) => url.slice("/models/".length).replace(LIST, "")).sort()).toEqual(
      readdirSync(`${CATALOG}/models`).sort(),
    );
  });
  it("contains exactly the files of the folders that the coordinator serves, with the listed size and hash", () => {
    const folders = files.flatMap(({ model }) => (model?.url.startsWith("/models/") === true ? [model.url] : []));
    for (const url of folders.filter((each) => each.endsWith(LIST))) {
      const folder = `${CATALOG}${url.slice(0, -LIST.length)}`;
      const list = JSON.parse(readFileSync(`${CATALOG}${url}`, "utf8")) as { files: readonly object[] };
      const found = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => path !== `${folder}${LIST}`)
        .map((path) => {
          const content = readFileSync(path);
          return { path: path.slice(folder.length + 1), bytes: content.length, sha256: sha256Of(content) };
        });
      expect(list.files).toEqual(found.toSorted((a, b) => (a.path < b.path ? -1 : 1)));
    }
  });
  it("ships small models that take less than 6 MB together", () => {
    const sizes = readdirSync(`${CATALOG}/models`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(6 * 1_000_000);
  });
  it("lists no Cargo under two names", () => {
    const runs = files.map((file) => {
      const { runtime_type: runtime, model, container, args } = file;
      return JSON.stringify([runtime, model?.url, container, args]);
    });
    expect(new Set(runs).size).toBe(runs.length);
    expect(new Set(files.map((file) => file.name)).size).toBe(files.length);
  });

  describe.each(shipped)("%s", (name, file) => {
    it("is named after its slug", () => {
      expect(name).toBe(`${file.slug}.json`);
    });
    it("states the memory that the rule computes", () => {
      expect({ ramMb: file.required_ram_mb, vramMb: file.required_vram_mb }).toEqual(workedOut(file));
    });
    it("includes an example that a job would accept and that fits its context", () => {
      expect(() => checkInput(cargoOf(file), file.example_input)).not.toThrow();
      const { max_tokens: maxTokens = 0 } = file.example_input;
      if (file.context_tokens !== null) expect(maxTokens).toBeLessThan(file.context_tokens);
    });
    it("describes its output, which is never empty", () => {
      const { outputSchema, isChat } = cargoOf(file);
      expect(outputSchema).toHaveProperty("type");
      expect(inputSchemas.errorsOf(outputSchema, "", 2).length > 0).toBe(!isChat);
    });
    it("rejects an empty input", () => {
      expect(() => checkInput(cargoOf(file), {})).toThrow();
    });
    it("states where its model or image is", () => {
      const { runtime_type: runtime, model, container } = file;
      switch (runtime) {
        case "llmcpp":
          expect(model?.url).toMatch(/^(hf:[\w.-]+\/[\w.-]+:[\w.-]+\.gguf|\/models\/[\w.-]+\.gguf)$/);
          expect(model?.sha256).not.toBeNull();
          return;
        case "onnx":
        case "diffusers":
          expect(model?.url).toMatch(FOLDER);
          return expect(file.weights).toBeDefined();
        case "coreml": {
          // Core ML runs ONNX files that an onnx or diffusers Cargo also names.
          const siblings = files.filter((other) => ["onnx", "diffusers"].includes(other.runtime_type));
          const tasks = siblings
            .filter((other) => other.model?.url === model?.url && other.weights === file.weights)
            .map((other) => (other.runtime_type === "diffusers" ? "text-to-image" : other.onnx_task_type));
          return expect(tasks).toContain(file.onnx_task_type);
        }
        case "wasm":
          expect(model?.url).toMatch(/^(https:\/\/\S+|\/models\/[\w.-]+)\.wasm$/);
          return expect(model?.sha256).not.toBeNull();
        case "engine":
          throw new Error("No shipped Cargo is an engine's: hosts declare those");
        case "container":
          return expect(container?.gpu).toBe(file.required_vram_mb > 0);
        default:
          return runtime satisfies never;
      }
    });
  });
});
