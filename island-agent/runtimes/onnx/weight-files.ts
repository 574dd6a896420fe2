import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import type { WeightFormat } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { chooseGraphs } from "../../models/weight-format.ts";

/** Folder of a model's graphs in transformers.js' layout. */
const FOLDER = "onnx";

/** Graphs of a model in one format. */
interface WeightFiles {
  readonly format: WeightFormat;
  /** Paths of the `.onnx` files. */
  readonly graphs: readonly string[];
  /** Size of the graphs and of their weights files (`.onnx_data`). */
  readonly bytes: number;
}

/**
 * Finds a model's graphs in the format `wanted`, or in the best format that the folder has. A single-file model is its
 * only graph.
 * @throws {JobFailure} `model_unavailable` when the path does not exist, `model_invalid` when the folder has no such
 * graph.
 */
export async function findWeights(modelPath: string, wanted: WeightFormat | null): Promise<WeightFiles> {
  const { isDirectory, size } = await statModel(modelPath);
  if (!isDirectory) return { format: wanted ?? "fp32", graphs: [modelPath], bytes: size };
  const folder = path.join(modelPath, FOLDER);
  const names = await readdir(folder).catch(() => [] as string[]);
  const { format, graphs, data } = chooseGraphs(names, wanted, FOLDER);
  const sizes = await Promise.all([...graphs, ...data].map(async (name) => (await stat(path.join(folder, name))).size));
  return {
    format,
    graphs: graphs.map((name) => path.join(folder, name)),
    bytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
  };
}

async function statModel(modelPath: string): Promise<{ isDirectory: boolean; size: number }> {
  try {
    const stats = await stat(modelPath);
    return { isDirectory: stats.isDirectory(), size: stats.size };
  } catch (cause) {
    throw new JobFailure("model_unavailable", "The model is not on this Island's disk", { retryable: true, cause });
  }
}
