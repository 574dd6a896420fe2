import { z } from "zod";
import { ServiceError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";
import { PinLookupError } from "../pin-lookup/lookup-http.ts";
import type { FoundFile, FoundModel } from "./find-model.ts";
import type { HubRequests } from "./hub-requests.ts";

/** Longest header of a file. The largest vocabularies take about 10 MB. */
const MAX_HEADER_BYTES = 32_000_000;

/** Shape of a model, from its header. */
export interface ModelHeader {
  readonly architecture: string;
  readonly name: string | null;
  readonly licence: string | null;
  readonly parameters: number;
  readonly trainedTokens: number;
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly vocabulary: number;
  /** How the model makes vectors (a number of llama.cpp); null: it generates text. */
  readonly pooling: number | null;
  readonly chatTemplate: string | null;
}

const count = z.coerce.number().int().positive().max(1e9);
/** A number, or one for each layer. Layers without attention have 0. */
const perLayer = z.union([
  count.transform((each) => [each]),
  z.array(z.coerce.number().int().min(0).max(1e6)).max(10_000),
]);
const text = z.string().max(1_000_000);

/** Reads and checks the headers of all files of a model. @throws {ServiceError} `bad_request`; {@link PinLookupError} */
export async function readHeader(found: FoundModel, requests: HubRequests): Promise<ModelHeader> {
  const { model, parts, projector } = found;
  const first = await parse(model, requests, found.commit);
  let { parameterCount: parameters } = first;
  const files = Number(first.metadata["split.count"] ?? 1);
  // gguf-split writes 0 into a file that it merged.
  if (Math.max(1, files) !== parts.length + 1) {
    throw invalid(model, `is the first of ${files} files, but ${parts.length + 1} were found`);
  }
  for (const [index, part] of parts.entries()) {
    const { metadata, parameterCount } = await parse(part, requests, found.commit);
    if (Number(metadata["split.no"]) !== index + 1) throw invalid(part, `is not part ${index + 2} of the model`);
    parameters += parameterCount;
  }
  if (projector !== null) {
    const { metadata } = await parse(projector, requests, found.commit);
    if (metadata["general.architecture"] !== "clip") throw invalid(projector, "is not a projector for images");
  }
  return describe(model, first.metadata, parameters);
}

interface Parsed {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly parameterCount: number;
}

async function parse(file: FoundFile, requests: HubRequests, commit: string | null): Promise<Parsed> {
  const { from } = file;
  // Loaded only here: it takes 0.1 s and 9 MB, and few processes add models.
  const { gguf } = await import("@huggingface/gguf");
  try {
    if (typeof from === "string")
      return parsedOf(await gguf(from, { allowLocalFile: true, computeParametersCount: true }));
    const fetchRange = (_url: unknown, init?: RequestInit): Promise<Response> =>
      readRange(file, from, new Headers(init?.headers).get("range") ?? "", requests, commit);
    return parsedOf(await gguf(from.href, { fetch: fetchRange, computeParametersCount: true }));
  } catch (error) {
    if (error instanceof PinLookupError || error instanceof ServiceError) throw error;
    throw invalid(file, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The library's types name the keys of known architectures only. */
function parsedOf({ metadata, parameterCount }: { metadata: object; parameterCount: number }): Parsed {
  return { metadata: { ...metadata }, parameterCount };
}

/** Reads the range that the library asks for, and checks that the file is still the listed one. */
async function readRange(
  file: FoundFile,
  from: URL,
  header: string,
  requests: HubRequests,
  commit: string | null,
): Promise<Response> {
  const [start = 0, end = 0] = (/^bytes=(\d+)-(\d+)$/.exec(header) ?? []).slice(1).map(Number);
  if (end >= MAX_HEADER_BYTES) throw invalid(file, `has a header of more than ${formatBytes(MAX_HEADER_BYTES)}`);
  // A short file ends before the library's first range does.
  if (start >= file.sizeBytes) return new Response(new Uint8Array());
  const length = Math.min(end + 1, file.sizeBytes) - start;
  const { bytes, totalBytes, headers } = await requests.range(from, file.path, start, length);
  const changed = `${from.host} changed ${file.path} during the look-up`;
  if (totalBytes !== file.sizeBytes) {
    throw new PinLookupError(
      `${changed}: it has ${totalBytes} bytes, the list says ${file.sizeBytes}. Repeat the command`,
    );
  }
  const hash = headers.get("x-linked-etag")?.replace(/^(?:W\/)?"|"$/g, "");
  const given = headers.get("x-repo-commit");
  const isOther =
    (hash !== undefined && hash !== file.sha256) || (given !== null && commit !== null && given !== commit);
  if (isOther) throw new PinLookupError(`${changed}: it belongs to another revision. Repeat the command`);
  return new Response(new Uint8Array(bytes), {
    status: 206,
    headers: { "content-range": `bytes ${start}-${start + bytes.length - 1}/${totalBytes}` },
  });
}

function describe(file: FoundFile, metadata: Readonly<Record<string, unknown>>, parameters: number): ModelHeader {
  const architecture = text.safeParse(metadata["general.architecture"]).data ?? "";
  if (architecture === "" || architecture === "clip" || metadata["general.type"] === "adapter") {
    throw invalid(file, "is not a language model");
  }
  const read = <T>(schema: z.ZodType<T>, ...keys: string[]): T | undefined => {
    const key = keys.find((each) => metadata[each] !== undefined);
    if (key === undefined) return undefined;
    const parsed = schema.safeParse(metadata[key]);
    if (!parsed.success) throw invalid(file, `has an invalid ${key} in its header`);
    return parsed.data;
  };
  const need = <T>(schema: z.ZodType<T>, key: string): T => {
    const value = read(schema, key);
    if (value === undefined) throw invalid(file, `lacks ${key} in its header, so its memory cannot be computed`);
    return value;
  };
  const heads = need(perLayer, `${architecture}.attention.head_count`);
  const kvHeads = read(perLayer, `${architecture}.attention.head_count_kv`) ?? heads;
  const blocks = need(count, `${architecture}.block_count`);
  const tokens = read(z.array(z.unknown()), "tokenizer.ggml.tokens")?.length;
  const vocabulary = tokens ?? need(count, `${architecture}.vocab_size`);
  const width = need(count, `${architecture}.embedding_length`) / Math.max(1, ...heads);
  return {
    architecture,
    name: read(text, "general.name") ?? null,
    licence: read(text, "general.license") ?? null,
    parameters,
    trainedTokens: need(count, `${architecture}.context_length`),
    layers: kvHeads.length === 1 ? blocks : Math.max(1, kvHeads.filter((each) => each > 0).length),
    kvHeads: Math.max(1, ...kvHeads),
    headDim: read(count, `${architecture}.attention.key_length`) ?? Math.ceil(width),
    vocabulary: Math.max(1, vocabulary),
    pooling: read(z.coerce.number().int().min(0).max(10), `${architecture}.pooling_type`) || null,
    chatTemplate: read(text, "tokenizer.chat_template") ?? null,
  };
}

function invalid({ path }: FoundFile, problem: string): ServiceError {
  return new ServiceError("bad_request", `${path} ${problem}`);
}
