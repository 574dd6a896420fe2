import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { WEIGHT_FORMATS, type WeightFormat } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";

/** Where transformers.js looks for the graphs of a model. */
const FOLDER = "onnx";
/** What each format adds to the name of a graph. Source: transformers.js, `DEFAULT_DTYPE_SUFFIX_MAPPING`. */
const SUFFIXES: Readonly<Record<WeightFormat, string>> = {
  fp32: "",
  fp16: "_fp16",
  int8: "_int8",
  uint8: "_uint8",
  q8: "_quantized",
  q4: "_q4",
  q4f16: "_q4f16",
  bnb4: "_bnb4",
};
/** Where a Cargo names no format: the model itself, then what a CPU computes well, then the rest. */
const PREFERENCE: readonly WeightFormat[] = ["fp32", "q8", "int8", "uint8", "q4", "bnb4", "fp16", "q4f16"];
/** Decoders that exporters write beside `decoder_model_merged`, which does the work of both. */
const UNUSED_DECODERS: ReadonlySet<string> = new Set(["decoder_model", "decoder_with_past_model"]);

/** The graphs of a model in one format. */
export interface WeightFiles {
  readonly format: WeightFormat;
  /** Paths of the `.onnx` files. */
  readonly graphs: readonly string[];
  /** Of the graphs and of the weights beside them (`.onnx_data`). */
  readonly bytes: number;
}

/**
 * Finds the files that `wanted` picks of a model's folder, or those of the format that suits best. One file stands for itself.
 * @throws {JobFailure} `model_unavailable` when nothing is there, `model_invalid` when the folder has no such graph.
 */
export async function findWeights(modelPath: string, wanted: WeightFormat | null): Promise<WeightFiles> {
  const { isDirectory, size } = await statModel(modelPath);
  if (!isDirectory) return { format: wanted ?? "fp32", graphs: [modelPath], bytes: size };
  const folder = path.join(modelPath, FOLDER);
  const names = await readdir(folder).catch(() => [] as string[]);
  const graphs = names.filter((name) => name.endsWith(".onnx")).map((name) => ({ name, ...splitName(name) }));
  const isThere = (format: WeightFormat): boolean => graphs.some((graph) => graph.format === format);
  const format = wanted ?? PREFERENCE.find(isThere);
  if (format === undefined) throw new JobFailure("model_invalid", "The model's folder has no graph: onnx/*.onnx");
  if (!isThere(format)) {
    const others = WEIGHT_FORMATS.filter(isThere).join(", ") || "none";
    const pattern = `${FOLDER}/*${SUFFIXES[format]}.onnx`;
    throw new JobFailure("model_invalid", `The model has no ${format} weights (${pattern}); it has ${others}`);
  }
  const picked = graphs.filter((graph) => graph.format === format);
  const isMerged = picked.some(({ base }) => base === "decoder_model_merged");
  const used = picked.filter(({ base }) => !(isMerged && UNUSED_DECODERS.has(base)));
  const files = names.filter((name) =>
    used.some((graph) => name === graph.name || name.startsWith(`${graph.name}_data`)),
  );
  const sizes = await Promise.all(files.map(async (name) => (await stat(path.join(folder, name))).size));
  return {
    format,
    graphs: used.map(({ name }) => path.join(folder, name)),
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

/** "decoder_model_merged_q4.onnx" is the graph "decoder_model_merged" in q4. */
function splitName(name: string): { base: string; format: WeightFormat } {
  const stem = name.slice(0, -".onnx".length);
  const format = WEIGHT_FORMATS.find((each) => each !== "fp32" && stem.endsWith(SUFFIXES[each])) ?? "fp32";
  return { base: stem.slice(0, stem.length - SUFFIXES[format].length), format };
}
