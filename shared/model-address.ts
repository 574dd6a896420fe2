/**
 * Parsed form of `ModelRef.url`. Islands (models/download/model-source.ts) decide how each kind is downloaded. The
 * catalog decides which kinds a Cargo may use.
 */
export type ModelAddress =
  /**
   * `hf:owner/repo[#revision]` (the repository: a folder, or its default quantization), `hf:owner/repo:QUANT`,
   * `hf:owner/repo/path/file[#revision]` or `hf:owner/repo:path/file[#revision]`. At most one of `file` and `tag` is
   * set.
   */
  | {
      readonly kind: "hub";
      readonly repository: string;
      readonly file: string | null;
      /** Quantization, which the hub resolves to a file. */
      readonly tag: string | null;
      readonly revision: string | null;
    }
  /** Path that the coordinator serves: `/models/…`. */
  | { readonly kind: "coordinator"; readonly path: string }
  /** URL `https://…`, or `http://…` if the coordinator itself has no TLS. Contains no credentials. */
  | { readonly kind: "url"; readonly url: URL };

/** Error for an address that violates the grammar. */
export class ModelAddressError extends Error {
  override readonly name = "ModelAddressError";
  constructor(address: string, problem: string) {
    super(`Model address "${address.slice(0, 200)}" ${problem}`);
  }
}

const HUB_PREFIX = "hf:";
const REPOSITORY_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;
const QUANTISATION = /^[A-Za-z0-9_-]{1,64}$/;
const SPLIT_FILE = /-\d{5}-of-\d{5}\.gguf$/i;
/** Pattern of a hub repository or a list of files. */
const FOLDER_ADDRESS = /^hf:[^/:#]+\/[^/:#]+(?:#[^#]+)?$|^(?!hf:).*\/files\.json$/;

/**
 * Pattern for catalogs. It is looser than {@link parseModelAddress}, which also rejects addresses that cannot be
 * downloaded.
 */
export const CATALOG_ADDRESS =
  /^(hf:[^\s/]+\/\S+|https:\/\/\S+|\/models\/\S+|engine:[A-Za-z0-9][A-Za-z0-9._:/-]{0,99})$/;

/** Prefix of a model that a host's engine serves under this name, without proof of what it is. */
export const ENGINE_PREFIX = "engine:";

/** Prefix of the slugs of Cargos whose model is only declared, so that every response names it. */
export const DECLARED_PREFIX = "declared-";

/** Returns whether the address is that of a model that hosts only declare: nothing proves what their engines run. */
export function isDeclaredAddress(text: string): boolean {
  return text.startsWith(ENGINE_PREFIX);
}

/** Returns whether the address names a model of an engine: by its name, or by a commit of the hub. */
export function isEngineAddress(text: string): boolean {
  return isDeclaredAddress(text) || /^hf:[^/:#]+\/[^/:#]+#[0-9a-f]{40}$/.test(text);
}

/** @throws {ModelAddressError} */
export function parseModelAddress(text: string): ModelAddress {
  if (isHubAddress(text)) return parseHubAddress(text);
  if (isCoordinatorPath(text)) return { kind: "coordinator", path: text };
  const url = URL.parse(text);
  if (url === null) throw new ModelAddressError(text, "is not a URL");
  if (url.username !== "" || url.password !== "") throw new ModelAddressError(text, "carries credentials");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new ModelAddressError(text, `uses ${url.protocol}`);
  return { kind: "url", url };
}

export function isHubAddress(text: string): boolean {
  return text.startsWith(HUB_PREFIX);
}

/** Returns whether the address is a path on the coordinator; only `/models/…` is served. */
export function isCoordinatorPath(text: string): boolean {
  return text.startsWith("/");
}

/** Returns whether the address may name a folder: `hf:owner/repo[#revision]`, or a list of files (`…/files.json`). */
export function isFolderAddress(text: string): boolean {
  return FOLDER_ADDRESS.test(text);
}

/** Returns whether a path is a part of a model in several GGUF files. */
export function isSplitFile(path: string): boolean {
  return SPLIT_FILE.test(path);
}

/** Returns the address of one file of a hub repository. */
export function hubFileAddress(repository: string, path: string, revision: string): string {
  return `${HUB_PREFIX}${repository}/${path}#${revision}`;
}

function parseHubAddress(text: string): ModelAddress {
  const [name = "", revision, ...extra] = text.slice(HUB_PREFIX.length).split("#");
  const [, owner = "", repo = "", separator, rest = ""] = /^([^/:]*)\/([^/:]*)(?:([/:])(.*))?$/.exec(name) ?? [];
  if (!REPOSITORY_NAME.test(owner) || !REPOSITORY_NAME.test(repo)) {
    throw new ModelAddressError(text, "must name a repository as hf:owner/repo");
  }
  if (extra.length > 0 || revision === "") throw new ModelAddressError(text, "has an invalid revision");
  const isTag = separator === ":" && QUANTISATION.test(rest);
  if (isTag && revision !== undefined)
    throw new ModelAddressError(text, "has a revision, which is allowed only with a file");
  return {
    kind: "hub",
    repository: `${owner}/${repo}`,
    file: separator === undefined || isTag ? null : rest,
    tag: isTag ? rest : null,
    revision: revision ?? null,
  };
}
