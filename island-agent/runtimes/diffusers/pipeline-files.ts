import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { WeightFormat } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { chooseGraphs, formatsOf } from "../../models/weight-format.ts";

/** A network of a pipeline on disk. */
export interface GraphFile {
  /** Its folder: "unet". */
  readonly part: string;
  readonly path: string;
  /** Of the graph and of the weights beside it. */
  readonly bytes: number;
}

/** The networks of a pipeline's folder. */
export interface PipelineFiles {
  /** One, or the two of SDXL. */
  readonly textEncoders: readonly GraphFile[];
  /** `unet` or `transformer`. */
  readonly denoiser: GraphFile;
  readonly decoder: GraphFile;
  readonly bytes: number;
}

/**
 * Finds the networks of a folder as diffusers' exporters write it.
 * @param weights picks `model_fp16.onnx` for fp16 and so on. A part that has no such file is taken as it is: many folders hold one
 *   format under the plain name, and the graph itself tells what it is.
 * @throws {JobFailure} `model_unavailable` when nothing is there, `model_invalid` naming the part that is missing.
 */
export async function findPipeline(modelPath: string, weights: WeightFormat | null): Promise<PipelineFiles> {
  const isDirectory = await stat(modelPath).then(
    (stats) => stats.isDirectory(),
    (cause: unknown) => {
      throw new JobFailure("model_unavailable", "The model is not on this Island's disk", { retryable: true, cause });
    },
  );
  if (!isDirectory) throw new JobFailure("model_invalid", "The model is one file; images need a pipeline's folder");
  const find = (part: string): Promise<GraphFile | null> => findGraph(modelPath, part, weights);
  const [first, second, unet, transformer, decoder] = await Promise.all(
    ["text_encoder", "text_encoder_2", "unet", "transformer", "vae_decoder"].map(find),
  );
  const denoiser = unet ?? transformer;
  if (!first) throw lacking("text_encoder/model.onnx");
  if (!denoiser) throw lacking("unet/model.onnx or transformer/model.onnx");
  if (!decoder) throw lacking("vae_decoder/model.onnx");
  const textEncoders = second ? [first, second] : [first];
  const bytes = [...textEncoders, denoiser, decoder].reduce((sum, graph) => sum + graph.bytes, 0);
  return { textEncoders, denoiser, decoder, bytes };
}

/** A JSON object of the folder. @throws {JobFailure} `model_invalid` naming the file. */
export async function readPipelineJson(modelPath: string, name: string): Promise<Record<string, unknown>> {
  const content = parseJson(await readPipelineText(modelPath, name));
  if (typeof content === "object" && content !== null && !Array.isArray(content))
    return content as Record<string, unknown>;
  throw new JobFailure("model_invalid", `${name} is not a JSON object`);
}

/** As `readPipelineJson`; null when there is no such file. */
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
  // As the store chooses what it fetches (models/folder-files.ts).
  const format = weights !== null && formatsOf(names).includes(weights) ? weights : null;
  const { graphs, data } = chooseGraphs(names, format, part);
  const graph = graphs.find((name) => name.startsWith("model")) ?? graphs[0] ?? "";
  // Weights too large for one file lie beside it: "model.onnx_data" as optimum has it, "weights.pb" as diffusers had it.
  const used = [graph, ...data, ...names.filter((name) => name === "weights.pb")];
  const sizes = await Promise.all(used.map(async (name) => (await stat(path.join(folder, name))).size));
  return { part, path: path.join(folder, graph), bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
}

function lacking(what: string): JobFailure {
  return new JobFailure("model_invalid", `The model's folder lacks ${what}`);
}
