import { JobFailure } from "../../../shared/errors.ts";
import { ModelAddressError, parseModelAddress, type ModelAddress } from "../../../shared/model-address.ts";
import type { FetchPolicy } from "./fetch-policy.ts";

/**
 * Source of a model's bytes. `extension` is safe in a file name and has no dot. It is empty if the address has no
 * extension.
 */
export type ModelSource =
  | { readonly kind: "file"; readonly url: URL; readonly extension: string }
  /** The hub is first asked which file of the repository has the quantization `tag`. */
  | { readonly kind: "hub-tag"; readonly repository: string; readonly tag: string; readonly extension: "gguf" };

/** Quantization of an address without a tag; the hub then chooses. */
const DEFAULT_TAG = "latest";
const DEFAULT_REVISION = "main";

/**
 * Returns the source of the file in a ModelRef's `url`. Grammar: shared/model-address.ts.
 * @throws {JobFailure} `model_invalid` when no Island could download it.
 */
export function parseModelSource(text: string, policy: FetchPolicy): ModelSource {
  const address = parseAddress(text);
  if (address.kind === "coordinator") return coordinatorSource(text, address.path, policy);
  if (address.kind === "url") {
    if (address.url.protocol === "http:" && address.url.origin !== policy.coordinator?.origin) {
      throw invalidAddress(text, "uses http, which is allowed only for the coordinator");
    }
    return fileSource(address.url);
  }
  const { repository, file, tag, revision } = address;
  if (file !== null) return fileSource(hubFileUrl(policy, repository, file, revision ?? DEFAULT_REVISION));
  if (revision !== null) throw invalidAddress(text, "has a revision, which needs a file");
  return { kind: "hub-tag", repository, tag: tag ?? DEFAULT_TAG, extension: "gguf" };
}

/** Parses a folder of the hub: `hf:owner/repo[#revision]`. @throws {JobFailure} `model_invalid` for other addresses. */
export function parseHubFolder(text: string): { readonly repository: string; readonly revision: string } {
  const address = parseAddress(text);
  if (address.kind !== "hub" || address.file !== null || address.tag !== null) {
    throw invalidAddress(text, "must be a folder of the hub (hf:owner/repo#revision)");
  }
  return { repository: address.repository, revision: address.revision ?? DEFAULT_REVISION };
}

/** Returns the URL of a file in a hub repository. @param path as listed. @throws {JobFailure} `model_invalid` */
export function hubFileUrl(policy: FetchPolicy, repository: string, path: string, revision: string): URL {
  const segments = path.split("/");
  const isSafe = segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
  if (!isSafe) throw invalidAddress(`hf:${repository}:${path}`, "does not name a file");
  const encoded = segments.map((segment) => encodeURIComponent(segment)).join("/");
  return new URL(`${hubBase(policy)}/${repository}/resolve/${encodeURIComponent(revision)}/${encoded}?download=true`);
}

/** Returns the hub's URL that maps a quantization to its file. */
export function hubManifestUrl(policy: FetchPolicy, repository: string, tag: string): URL {
  return new URL(`${hubBase(policy)}/v2/${repository}/manifests/${encodeURIComponent(tag)}`);
}

/** Returns the URL of the hub's description of a repository at a revision; its `sha` is the commit. */
export function hubRevisionUrl(policy: FetchPolicy, repository: string, revision: string): URL {
  return new URL(`${hubBase(policy)}/api/models/${repository}/revision/${encodeURIComponent(revision)}`);
}

/** Returns the URL of the list of all files of a repository, including those in folders. */
export function hubTreeUrl(policy: FetchPolicy, repository: string, commit: string): URL {
  return new URL(`${hubBase(policy)}/api/models/${repository}/tree/${encodeURIComponent(commit)}?recursive=true`);
}

function parseAddress(text: string): ModelAddress {
  try {
    return parseModelAddress(text);
  } catch (error) {
    throw error instanceof ModelAddressError ? new JobFailure("model_invalid", error.message) : error;
  }
}

function coordinatorSource(text: string, path: string, policy: FetchPolicy): ModelSource {
  if (policy.coordinator === null) throw invalidAddress(text, "is a path on a coordinator, but no coordinator is set");
  const base = policy.coordinator.pathname.replace(/\/+$/, "");
  const url = URL.parse(`${policy.coordinator.origin}${base}${path}`);
  // Checked after parsing, which resolves "/models/../x".
  if (url === null || !url.pathname.startsWith(`${base}/models/`)) throw invalidAddress(text, "is not below /models/");
  return fileSource(url);
}

function fileSource(url: URL): ModelSource {
  return { kind: "file", url, extension: /\.([a-z0-9]{1,8})$/i.exec(url.pathname)?.[1]?.toLowerCase() ?? "" };
}

function hubBase(policy: FetchPolicy): string {
  return `${policy.hub.origin}${policy.hub.pathname.replace(/\/+$/, "")}`;
}

function invalidAddress(text: string, problem: string): JobFailure {
  return new JobFailure("model_invalid", new ModelAddressError(text, problem).message);
}
