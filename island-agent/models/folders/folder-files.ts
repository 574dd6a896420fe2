import type { CargoManifest, WeightFormat } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { chooseGraphs, formatsOf } from "../weight-format.ts";

/** Layout of a model's folder, as used by transformers.js or by the diffusers exporters. */
type FolderLayout = "onnx" | "diffusers";

/** Maximum number of a folder's files that one Cargo may need. */
const MAX_FILES = 2_000;
const MAX_PATH_LENGTH = 500;

/** Components of a text-to-image pipeline. `safety_checker` and others are not used. */
const PIPELINE_COMPONENTS = [
  "text_encoder",
  "text_encoder_2",
  "text_encoder_3",
  "unet",
  "transformer",
  "vae_decoder",
  "vae_encoder",
];
/** Settings, vocabularies and templates. `*.index.json` lists PyTorch's files. */
const SETTINGS_FILE = /^(?!.*\.index\.json$).*\.(?:json|txt|jinja)$/;
/** Voices for text to speech: arrays of floats. Other `.bin` files hold PyTorch's weights. */
const VOICE_FILE = /^voices\/[^/]+\.bin$/;
/** File of the diffusers exporters for weights that are too large for the graph. */
const OTHER_DATA_FILE = "weights.pb";

/**
 * Returns the layout of a Cargo's folder. A Core ML Cargo runs like the `onnx` or `diffusers` Cargo of the same task
 * (docs/host/runtimes.md).
 */
export function folderLayoutOf({ runtimeType, onnxTaskType }: CargoManifest): FolderLayout {
  const isDrawing = runtimeType === "diffusers" || (runtimeType === "coreml" && onnxTaskType === "text-to-image");
  return isDrawing ? "diffusers" : "onnx";
}

/**
 * Chooses the files of a folder that a Cargo needs, without the weights of PyTorch, TensorFlow and others.
 * @param weights null if the Island chooses the format.
 * @throws {JobFailure} `model_invalid` when the folder lacks the graphs, or a chosen file is not safe to write to a
 * disk.
 */
export function chooseFolderFiles<T extends { readonly path: string }>(
  layout: FolderLayout,
  weights: WeightFormat | null,
  files: readonly T[],
): T[] {
  const paths = files.map(({ path }) => path);
  const chosen = new Set(layout === "onnx" ? chooseOnnx(paths, weights) : chooseDiffusers(paths, weights));
  const taken = files.filter(({ path }) => chosen.has(path));
  assertSafePaths(taken.map(({ path }) => path));
  return taken;
}

function chooseOnnx(paths: readonly string[], weights: WeightFormat | null): string[] {
  const { graphs, data } = chooseGraphs(namesIn("onnx", paths), weights, "onnx");
  const settings = paths.filter((path) => !path.includes("/") && SETTINGS_FILE.test(path));
  const voices = paths.filter((path) => VOICE_FILE.test(path));
  return [...settings, ...voices, ...[...graphs, ...data].map((name) => `onnx/${name}`)];
}

/**
 * Finds components by their names, because `model_index.json` does not name the decoder when it belongs to PyTorch's
 * weights. Exporters write one format for each component, mostly without a suffix; it is used when the wanted format is
 * missing.
 */
function chooseDiffusers(paths: readonly string[], weights: WeightFormat | null): string[] {
  const settings = paths.filter((path) => path.split("/").length <= 2 && SETTINGS_FILE.test(path));
  const components = PIPELINE_COMPONENTS.filter((component) => namesIn(component, paths).some(isGraph));
  if (components.length === 0)
    throw new JobFailure("model_invalid", "The model's folder lacks the graph unet/model.onnx");
  const graphFiles = components.flatMap((component) => {
    const names = namesIn(component, paths);
    const format = weights !== null && formatsOf(names).includes(weights) ? weights : null;
    const { graphs, data } = chooseGraphs(names, format, component);
    const others = names.filter((name) => name === OTHER_DATA_FILE);
    return [...graphs, ...data, ...others].map((name) => `${component}/${name}`);
  });
  return [...settings, ...graphFiles];
}

function namesIn(folder: string, paths: readonly string[]): string[] {
  const prefix = `${folder}/`;
  const below = paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
  return below.filter((name) => !name.includes("/"));
}

const isGraph = (name: string): boolean => name.endsWith(".onnx");

/**
 * Checks that the paths are safe below a directory on any system and name distinct files.
 * @throws {JobFailure} `model_invalid`
 */
export function assertSafePaths(paths: readonly string[]): void {
  if (paths.length > MAX_FILES) throw refuse(`has more than ${MAX_FILES} files`);
  const seen = new Set<string>();
  for (const path of paths) {
    if (!isSafePath(path))
      throw refuse(`has a file whose path is not safe to write: ${JSON.stringify(path.slice(0, 200))}`);
    // Some file systems are case-insensitive.
    const folded = path.toLowerCase();
    if (seen.has(folded)) throw refuse(`has two files named ${path}`);
    seen.add(folded);
  }
  const isFile = (path: string): boolean => seen.has(path);
  const blocked = [...seen].find((path) => parentsOf(path).some(isFile));
  if (blocked !== undefined) throw refuse(`has a file where ${blocked} needs a folder`);
}

/** Returns true for a relative path without `..`, drive, stream, device name, fragment or control character. */
function isSafePath(path: string): boolean {
  if (path.length > MAX_PATH_LENGTH || !path.isWellFormed()) return false;
  return path.split("/").every((segment) => {
    const isPlain = segment !== "" && !/^\.{1,2}$/.test(segment) && !/[. ]$/.test(segment);
    return (
      isPlain && !/[\p{Cc}\\:*?"<>|#]/u.test(segment) && !/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(segment)
    );
  });
}

function parentsOf(path: string): string[] {
  const segments = path.split("/");
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
}

function refuse(why: string): JobFailure {
  return new JobFailure("model_invalid", `The model's folder ${why}`);
}
