import { ServiceError } from "../../../shared/errors.ts";
import { ModelAddressError, parseModelAddress } from "../../../shared/model-address.ts";

/** Where `cargo add` finds a model. */
export type ModelSource =
  | {
      readonly kind: "hub";
      readonly repository: string;
      /** Branch, tag or commit; null: the default branch. */
      readonly revision: string | null;
      /** At most one of `file` and `quantization` is set. */
      readonly file: string | null;
      readonly quantization: string | null;
    }
  /** Model of Ollama's library or of another registry that speaks its API. */
  | { readonly kind: "ollama"; readonly registry: URL; readonly name: string; readonly tag: string }
  | { readonly kind: "disk"; readonly path: string };

export const OLLAMA_REGISTRY = "https://registry.ollama.ai";
const HUB_PREFIX = /^(?:hf:|(?:https:\/\/)?(?:www\.)?(?:huggingface\.co|hf\.co)\/)/i;
const OLLAMA_PREFIX = /^(?:ollama:|(?:https:\/\/)?(?:ollama\.com|registry\.ollama\.ai)\/)/i;
/** Path of a file's page or address on the hub. */
const FILE_PATH = /^([^/]+\/[^/]+)\/(?:resolve|blob)\/([^/]+)\/([^?#]+)/;
const OLLAMA_NAME = /^(?:([a-z0-9][\w.-]*)\/)?([a-z0-9][\w.-]*)(?::([\w][\w.-]{0,127}))?$/i;

/**
 * Reads a source as the operator writes it.
 * @param hub address of the hub or of the operator's mirror
 * @throws {ServiceError} `bad_request`
 */
export function parseModelSource(text: string, hub: string): ModelSource {
  const mirror = `${hub.replace(/\/+$/, "")}/`;
  const atHub = text.startsWith(mirror) ? mirror : HUB_PREFIX.exec(text)?.[0];
  if (atHub !== undefined) return hubSource(text, text.slice(atHub.length));
  const ollama = OLLAMA_PREFIX.exec(text)?.[0];
  if (ollama !== undefined) return ollamaSource(text, text.slice(ollama.length));
  if (/^\.{0,2}[/\\]|^~|^[a-z]:\\|\.gguf$/i.test(text) && !/^\w+:\/\//.test(text)) return { kind: "disk", path: text };
  // `user/repo` is a name of both the hub and Ollama.
  if (OLLAMA_NAME.test(text) && !text.includes("/")) return ollamaSource(text, text);
  throw unknownSource(text);
}

function hubSource(text: string, rest: string): ModelSource {
  const [, path, revision, encoded] = FILE_PATH.exec(rest) ?? [];
  try {
    const file = encoded === undefined ? null : decodeURIComponent(encoded);
    const address = parseModelAddress(
      `hf:${path === undefined ? rest.replace(/\/+$/, "") : `${path}/${file}#${revision}`}`,
    );
    if (address.kind !== "hub") throw unknownSource(text);
    const { repository, revision: at, file: named, tag } = address;
    return { kind: "hub", repository, revision: at, file: named, quantization: tag };
  } catch (error) {
    if (!(error instanceof ModelAddressError) && !(error instanceof URIError)) throw error;
    throw unknownSource(text, error);
  }
}

function ollamaSource(text: string, rest: string): ModelSource {
  const [, origin, named = rest] = /^(https?:\/\/[^/]+)\/(.*)$/.exec(rest) ?? [];
  const registry = URL.parse(origin ?? OLLAMA_REGISTRY);
  const [, namespace = "library", name, tag = "latest"] = OLLAMA_NAME.exec(named) ?? [];
  if (name === undefined || registry === null) throw unknownSource(text);
  return { kind: "ollama", registry, name: `${namespace}/${name}`, tag };
}

function unknownSource(text: string, cause?: unknown): ServiceError {
  const forms = "hf.co/USER/REPO[:QUANT], https://huggingface.co/USER/REPO/resolve/REVISION/FILE.gguf";
  const message = `${JSON.stringify(text.slice(0, 200))} names no model. Give ${forms}, a .gguf file, or ollama:NAME[:TAG]`;
  return new ServiceError("bad_request", message, { cause });
}
