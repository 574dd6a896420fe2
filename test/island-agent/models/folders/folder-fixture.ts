import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CargoManifest } from "../../../../shared/cargo.ts";
import { makeManifest } from "../../builders.ts";
import { makeBytes } from "../file-server.ts";

export const CONFIG = Buffer.from('{"model_type":"bert"}');
export const TOKENIZER = makeBytes(3_000, "tokenizer");
export const GRAPH = makeBytes(200_000, "graph");
export const QUANTISED = makeBytes(50_000, "quantised");
export const FILES = {
  "config.json": CONFIG,
  "tokenizer.json": TOKENIZER,
  "model.safetensors": makeBytes(1_000, "unused"),
  "onnx/model.onnx": GRAPH,
  "onnx/model_quantized.onnx": QUANTISED,
};
export const WHOLE_BYTES = CONFIG.length + TOKENIZER.length + GRAPH.length;

export const cargo = (override: Partial<CargoManifest> = {}): CargoManifest =>
  makeManifest({
    slug: "sentiment",
    runtimeType: "onnx",
    model: { url: "hf:owner/repo", sha256: null, sizeBytes: null },
    weights: "fp32",
    ...override,
  });

/** Returns every file below a directory with its content. */
export async function contentOf(path: string): Promise<Record<string, Buffer>> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (name) => [name.slice(path.length + 1), await readFile(name)] as const)),
  );
}
