import { MAX_PARTS } from "../../../shared/cargo.ts";
import { ServiceError } from "../../../shared/errors.ts";

/** Name of one of several files: prefix, number from 1, and number of all. Source: llama.cpp, gguf-split. */
const PART_NAME = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;
/** Label of a quantization in a file name, such as `Q4_K_M`, `IQ2_XXS`, `UD-Q4_K_XL`, `MXFP4` or `BF16`. */
const LABEL = /(?:^|[^A-Za-z0-9])((?:UD-)?(?:I?Q\d\w*|TQ\d\w*|MXFP4\w*|BF16|F16|F32))(?=[.-]|$)/gi;

/** Files of a model: the first (or only) one, the other parts in order, and the projector. */
export interface ChosenFiles<File> {
  readonly model: File;
  readonly parts: readonly File[];
  readonly projector: File | null;
}

/**
 * Chooses the files of a model as llama.cpp does with `-hf`: the named file or quantization, in any case; otherwise
 * Q4_K_M, then any Q4, then the first file. An F16 projector is preferred.
 * @throws {ServiceError} `bad_request`
 */
export function chooseFiles<File extends { readonly path: string }>(
  files: readonly File[],
  { file, quantization }: { readonly file: string | null; readonly quantization: string | null },
  place: string,
): ChosenFiles<File> {
  const sorted = files.filter(({ path }) => /\.gguf$/i.test(path)).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const models = sorted.filter(({ path }) => !/mmproj|imatrix/i.test(path));
  const firsts = models.filter(({ path }) => Number(PART_NAME.exec(path)?.[2] ?? 1) === 1);
  const model =
    file === null ? chooseModel(firsts, quantization) : sorted.find(({ path }) => path === firstPartOf(file));
  if (model === undefined) throw notFound(firsts, { file, quantization }, place);
  const projectors = sorted.filter((each) => /mmproj/i.test(each.path) && each !== model);
  const projector = projectors.find(({ path }) => labelOf(path) === "F16") ?? projectors[0] ?? null;
  return { model, parts: partsOf(model, models, place), projector };
}

/** Returns the label of the quantization in a file's name or folder; null if it has none. */
export function labelOf(path: string): string | null {
  const name = path.replace(PART_NAME, "$1.gguf");
  return [...name.matchAll(LABEL)].at(-1)?.[1]?.toUpperCase() ?? null;
}

function chooseModel<File extends { readonly path: string }>(
  firsts: readonly File[],
  quantization: string | null,
): File | undefined {
  const labelled = (pattern: RegExp): File | undefined => firsts.find(({ path }) => pattern.test(labelOf(path) ?? ""));
  if (quantization === null || quantization.toLowerCase() === "latest") {
    return labelled(/^(?:UD-)?Q4_K_M$/) ?? labelled(/Q4/) ?? firsts[0];
  }
  const wanted = quantization.toUpperCase();
  const exact = firsts.find(({ path }) => labelOf(path) === wanted);
  return exact ?? firsts.find(({ path }) => path.toUpperCase().includes(wanted));
}

function firstPartOf(path: string): string {
  return path.replace(PART_NAME, "$1-00001-of-$3.gguf");
}

/** Returns the second and following parts. @throws {ServiceError} `bad_request` if one is missing */
function partsOf<File extends { readonly path: string }>(first: File, files: readonly File[], place: string): File[] {
  const [, prefix, , total] = PART_NAME.exec(first.path) ?? [];
  if (total === undefined) return [];
  if (Number(total) > MAX_PARTS + 1) {
    const message = `${first.path} is one of ${Number(total)} files; a model may have at most ${MAX_PARTS + 1}`;
    throw new ServiceError("bad_request", message);
  }
  const byPath = new Map(files.map((each) => [each.path.toLowerCase(), each]));
  return Array.from({ length: Number(total) - 1 }, (_, index) => {
    const path = `${prefix}-${String(index + 2).padStart(5, "0")}-of-${total}.gguf`;
    const part = byPath.get(path.toLowerCase());
    if (part === undefined) throw new ServiceError("bad_request", `${place} lacks ${path}, a part of the model`);
    return part;
  });
}

function notFound(
  firsts: readonly { readonly path: string }[],
  { file, quantization }: { readonly file: string | null; readonly quantization: string | null },
  place: string,
): ServiceError {
  if (firsts.length === 0) return new ServiceError("bad_request", `${place} has no GGUF file of a model`);
  const MAX_NAMED = 12;
  const labels = [...new Set(firsts.map(({ path }) => labelOf(path) ?? path))];
  const more = labels.length > MAX_NAMED ? ` and ${labels.length - MAX_NAMED} others` : "";
  const message = `${place} has no ${file ?? `file for ${quantization}`}. It has ${labels.slice(0, MAX_NAMED).join(", ")}${more}`;
  return new ServiceError("bad_request", message);
}
