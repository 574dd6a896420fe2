import { WEIGHT_FORMATS, type WeightFormat } from "../../shared/cargo.ts";
import { JobFailure } from "../../shared/errors.ts";

/** Suffix of each format in the name of a graph. Source: transformers.js, `DEFAULT_DTYPE_SUFFIX_MAPPING`. */
const WEIGHT_SUFFIXES: Readonly<Record<WeightFormat, string>> = {
  fp32: "",
  fp16: "_fp16",
  int8: "_int8",
  uint8: "_uint8",
  q8: "_quantized",
  q4: "_q4",
  q4f16: "_q4f16",
  bnb4: "_bnb4",
};
/**
 * Order of preference when a Cargo names no format: full precision, then formats that are fast on a CPU, then the rest.
 */
const PREFERENCE: readonly WeightFormat[] = ["fp32", "q8", "int8", "uint8", "q4", "bnb4", "fp16", "q4f16"];
/** Decoders that exporters write in addition to `decoder_model_merged`, which replaces both. */
const UNUSED_DECODERS: ReadonlySet<string> = new Set(["decoder_model", "decoder_with_past_model"]);

interface ChosenGraphs {
  readonly format: WeightFormat;
  /** Names of the `.onnx` files. */
  readonly graphs: readonly string[];
  /** Names of their weights files: `model.onnx_data`, `model.onnx_data_1`, `model.onnx.data`. */
  readonly data: readonly string[];
}

/**
 * Chooses the ONNX graphs of a folder in the format `wanted`, or in the first of the preferred formats.
 * @param names all files of the folder.
 * @param folder the name of the folder, for messages.
 * @throws {JobFailure} `model_invalid` when the folder has no such graph.
 */
export function chooseGraphs(names: readonly string[], wanted: WeightFormat | null, folder: string): ChosenGraphs {
  const graphs = graphsOf(names);
  const formats = formatsOf(names);
  const format = wanted ?? PREFERENCE.find((each) => formats.includes(each));
  if (format === undefined)
    throw new JobFailure("model_invalid", `The model's folder lacks a graph (${folder}/*.onnx)`);
  if (!formats.includes(format)) {
    const pattern = `${folder}/*${WEIGHT_SUFFIXES[format]}.onnx`;
    const others = formats.join(", ") || "none";
    throw new JobFailure(
      "model_invalid",
      `The model has no ${format} weights (${pattern}). Available formats: ${others}`,
    );
  }
  const picked = graphs.filter((graph) => graph.format === format);
  const isMerged = picked.some(({ base }) => base === "decoder_model_merged");
  const used = picked.filter(({ base }) => !(isMerged && UNUSED_DECODERS.has(base))).map(({ name }) => name);
  const isData = (name: string): boolean => used.some((graph) => /^[_.]data/.test(removePrefix(graph, name)));
  return { format, graphs: used, data: names.filter(isData) };
}

export function formatsOf(names: readonly string[]): WeightFormat[] {
  const graphs = graphsOf(names);
  return WEIGHT_FORMATS.filter((format) => graphs.some((graph) => graph.format === format));
}

interface Graph {
  readonly name: string;
  /** Name without format suffix and extension. */
  readonly base: string;
  readonly format: WeightFormat;
}

function graphsOf(names: readonly string[]): Graph[] {
  return names.filter((name) => name.endsWith(".onnx")).map((name) => ({ name, ...splitName(name) }));
}

/** Returns the rest of the name after `start`; empty when the name starts otherwise. */
function removePrefix(start: string, name: string): string {
  return name.startsWith(start) ? name.slice(start.length) : "";
}

/** Splits a name: "decoder_model_merged_q4.onnx" is the graph "decoder_model_merged" in q4. */
function splitName(name: string): Omit<Graph, "name"> {
  const stem = name.slice(0, -".onnx".length);
  const format = WEIGHT_FORMATS.find((each) => each !== "fp32" && stem.endsWith(WEIGHT_SUFFIXES[each])) ?? "fp32";
  return { base: stem.slice(0, stem.length - WEIGHT_SUFFIXES[format].length), format };
}
