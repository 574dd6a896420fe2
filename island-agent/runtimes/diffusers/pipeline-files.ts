import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { WeightFormat } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { chooseGraphs, formatsOf } from "../../models/weight-format.ts";

/** A network of a pipeline on disk. */
interface GraphFile {
  /** Folder of the network, such as "unet". */
  readonly part: string;
  readonly path: string;
  /** Size of the graph and of its weights files. */
  readonly bytes: number;
}

export interface PipelineFiles {
  /** One encoder, two encoders (SDXL and Flux), or two or three encoders (Stable Diffusion 3). */
  readonly textEncoders: readonly GraphFile[];
  /** `unet` or `transformer`. */
  readonly denoiser: GraphFile;
  readonly decoder: GraphFile;
  /** Encoder for jobs with an image. If null, the pipeline starts only from noise. */
  readonly encoder: GraphFile | null;
  readonly bytes: number;
}

/**
 * Finds the networks in a folder of diffusers' ONNX exporters.
 * @param weights `model_fp16.onnx` for fp16 and so on. A part without such a file is used as it is, because many
 * folders contain one format under the plain name and the graph states its type.
 * @throws {JobFailure} `model_unavailable` when the path does not exist, `model_invalid` naming the missing part.
 */
export async function findPipeline(modelPath: string, weights: WeightFormat | null): Promise<PipelineFiles> {
  const isDirectory = await stat(modelPath).then(
    (stats) => stats.isDirectory(),
    (cause: unknown) => {
      throw new JobFailure("model_unavailable", "The model is not on this Island's disk", { retryable: true, cause });
    },
  );
  if (!isDirectory)
    throw new JobFailure("model_invalid", "The model is a single file, but a text-to-image pipeline requires a folder");
  const find = (part: string): Promise<GraphFile | null> => findGraph(modelPath, part, weights);
  const [first, second, third, unet, transformer, decoder, encoder = null] = await Promise.all(
    ["text_encoder", "text_encoder_2", "text_encoder_3", "unet", "transformer", "vae_decoder", "vae_encoder"].map(find),
  );
  const denoiser = unet ?? transformer;
  if (!first) throw missingFile("text_encoder/model.onnx");
  if (!denoiser) throw missingFile("unet/model.onnx or transformer/model.onnx");
  if (!decoder) throw missingFile("vae_decoder/model.onnx");
  const textEncoders = [first, ...(second ? [second, ...(third ? [third] : [])] : [])];
  const bytes = [...textEncoders, denoiser, decoder, ...(encoder === null ? [] : [encoder])].reduce(
    (sum, graph) => sum + graph.bytes,
    0,
  );
  return { textEncoders, denoiser, decoder, encoder, bytes };
}

/** Reads a JSON object in the folder. @throws {JobFailure} `model_invalid` naming the file. */
export async function readPipelineJson(modelPath: string, name: string): Promise<Record<string, unknown>> {
  const content = parseJson(await readPipelineText(modelPath, name));
  if (typeof content === "object" && content !== null && !Array.isArray(content))
    return content as Record<string, unknown>;
  throw new JobFailure("model_invalid", `${name} is not a JSON object`);
}

/** Reads a JSON object like `readPipelineJson`; null when the file does not exist. */
export async function readOptionalJson(modelPath: string, name: string): Promise<Record<string, unknown> | null> {
  const isThere = await stat(path.join(modelPath, name)).then(
    () => true,
    () => false,
  );
  return isThere ? readPipelineJson(modelPath, name) : null;
}

/** @throws {JobFailure} `model_invalid` naming the file. */
export async function readPipelineText(modelPath: string, name: string): Promise<string> {
  return readFile(path.join(modelPath, name), "utf8").catch((cause: unknown) => {
    throw new JobFailure("model_invalid", `The model's folder lacks ${name}`, { cause });
  });
}

/** Returns a positive number; undefined if missing. @throws {JobFailure} `model_invalid` for other values. */
export function numberIn(config: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = config[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && value > 0) return value;
  throw new JobFailure("model_invalid", `${name} in the model's configuration must be a positive number`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function findGraph(modelPath: string, part: string, weights: WeightFormat | null): Promise<GraphFile | null> {
  const folder = path.join(modelPath, part);
  const names = await readdir(folder).catch(() => [] as string[]);
  if (!names.some((name) => name.endsWith(".onnx"))) return null;
  // The same choice as in the download (models/folders/folder-files.ts).
  const format = weights !== null && formatsOf(names).includes(weights) ? weights : null;
  const { graphs, data } = chooseGraphs(names, format, part);
  const graph = graphs.find((name) => name.startsWith("model")) ?? graphs[0] ?? "";
  // Weights that are too large for the graph's file are in a second file: "model.onnx_data" from optimum, "weights.pb"
  // from older diffusers.
  const used = [graph, ...data, ...names.filter((name) => name === "weights.pb")];
  const sizes = await Promise.all(used.map(async (name) => (await stat(path.join(folder, name))).size));
  return { part, path: path.join(folder, graph), bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
}

function missingFile(what: string): JobFailure {
  return new JobFailure("model_invalid", `The model's folder lacks ${what}`);
}
