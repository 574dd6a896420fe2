import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readCargoFile, type CargoFile } from "../../coordinator/catalog/cargo-file.ts";
import { loadCatalog } from "../../coordinator/catalog/load-catalog.ts";
import { memoryNeedMb, targetOf } from "../../coordinator/catalog/memory-need.ts";
import { chatInputSchema } from "../../shared/chat-input.ts";
import { NumberingCatalogStore } from "./numbering-catalog-store.ts";

const CATALOG = fileURLToPath(new URL("../../catalog", import.meta.url));

function readShipped(): [string, CargoFile][] {
  return readdirSync(`${CATALOG}/cargos`).map((name): [string, CargoFile] => {
    const read = readCargoFile(readFileSync(`${CATALOG}/cargos/${name}`, "utf8"));
    if ("errors" in read) throw new Error(`${name}: ${JSON.stringify(read.errors)}`);
    return [name, read.file];
  });
}

const shipped = readShipped();

describe("the shipped catalog", () => {
  it("loads, with tiny-chat as the default", async () => {
    const catalog = await loadCatalog(CATALOG, new NumberingCatalogStore(), "tiny-chat");
    expect(catalog.list()).toHaveLength(shipped.length);
  });
  it("has chat models from half a billion to 70 billion parameters", () => {
    const billions = shipped.map(([, file]) =>
      file.parameters?.endsWith("B") ? Number.parseFloat(file.parameters) : 0,
    );
    expect(billions.filter((size) => size >= 0.4).length).toBeGreaterThanOrEqual(8);
    expect(Math.max(...billions)).toBeGreaterThan(69);
  });
  it("serves the model of tiny-chat itself, with the size and hash that the catalog states", () => {
    const tiny = shipped.find(([, file]) => file.slug === "tiny-chat")?.[1];
    const bytes = readFileSync(`${CATALOG}${tiny?.model?.url}`);
    expect(bytes.length).toBe(tiny?.model?.size_bytes);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(tiny?.model?.sha256);
    expect(tiny?.price_per_job).toBeLessThanOrEqual(1);
    expect(tiny?.example_input).toEqual({ prompt: "Count from 3 to 9.", temperature: 0 });
  });
  it("has no two Cargos with the same model", () => {
    expect(new Set(shipped.map(([, file]) => file.model?.url)).size).toBe(shipped.length);
  });

  describe.each(shipped)("%s", (name, file) => {
    it("is named after its slug", () => {
      expect(name).toBe(`${file.slug}.json`);
    });
    it("states the memory that memoryNeedMb() works out", () => {
      const { memory, model, context_tokens: contextTokens, parameters = "" } = file;
      if (memory === undefined || contextTokens === null) throw new Error("states no memory figures");
      if (model?.size_bytes == null) throw new Error("states no file size");
      const need = memoryNeedMb(
        {
          fileBytes: model.size_bytes,
          layers: memory.layers,
          kvHeads: memory.kv_heads,
          headDim: memory.head_dim,
          vocabulary: memory.vocabulary,
          contextTokens,
          sequences: memory.sequences,
        },
        targetOf(parameters),
      );
      expect({ ramMb: file.required_ram_mb, vramMb: file.required_vram_mb }).toEqual(need);
    });
    it("has an example that its own schema takes and its context holds", () => {
      const example = chatInputSchema.parse(file.example_input);
      expect(example.max_tokens ?? 0).toBeLessThan(file.context_tokens ?? 0);
    });
    it("names a file of a hub repository, or one that the coordinator serves, with its hash", () => {
      expect(file.model?.url).toMatch(/^(hf:[\w.-]+\/[\w.-]+:[\w.-]+\.gguf|\/models\/[\w.-]+\.gguf)$/);
      expect(file.model?.sha256).not.toBeNull();
    });
  });
});
