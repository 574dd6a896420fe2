import { JobFailure } from "../../../shared/errors.ts";
import type { FetchPolicy } from "./fetch-policy.ts";

/** Where a model's bytes come from. `extension` has no dot and is safe in a file name; empty when the address has none. */
export type ModelSource =
  | { readonly kind: "file"; readonly url: URL; readonly extension: string }
  /** The hub is asked first which file of the repository has the quantisation `tag`. */
  | { readonly kind: "hub-tag"; readonly repository: string; readonly tag: string; readonly extension: "gguf" };

const REPOSITORY_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;
const QUANTISATION = /^[A-Za-z0-9_-]{1,64}$/;
const SPLIT_FILE = /-\d{5}-of-\d{5}\.gguf$/i;

/**
 * Reads a ModelRef's `url`: `hf:owner/repo/path/file[#revision]`, `hf:owner/repo:path/file[#revision]`,
 * `hf:owner/repo[:QUANT]`, `https://…`, a path `/models/…` of the coordinator, or an http URL of the coordinator.
 * @throws {JobFailure} `model_invalid` when no Island could fetch it.
 */
export function parseModelSource(text: string, policy: FetchPolicy): ModelSource {
  if (text.startsWith("hf:")) return hubSource(text, policy);
  if (text.startsWith("/")) return coordinatorPath(text, policy);
  const url = URL.parse(text);
  if (url === null) throw refuse(text, "is not a URL");
  if (url.username !== "" || url.password !== "") throw refuse(text, "carries credentials");
  if (url.protocol === "http:" && url.origin !== policy.coordinator?.origin) {
    throw refuse(text, "uses http, which only the coordinator may");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refuse(text, `uses ${url.protocol}`);
  return fileSource(text, url);
}

/** Address of a file in a hub repository. `path` is as the repository writes it. */
export function hubFileUrl(policy: FetchPolicy, repository: string, path: string, revision: string): URL {
  const segments = path.split("/");
  const isSafe = segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
  if (!isSafe) throw refuse(`hf:${repository}:${path}`, "names no file");
  if (SPLIT_FILE.test(path)) throw refuse(`hf:${repository}:${path}`, "is split into several files");
  const encoded = segments.map((segment) => encodeURIComponent(segment)).join("/");
  return new URL(`${hubBase(policy)}/${repository}/resolve/${encodeURIComponent(revision)}/${encoded}?download=true`);
}

/** Address of the hub's answer to "which file has this quantisation". */
export function hubManifestUrl(policy: FetchPolicy, repository: string, tag: string): URL {
  return new URL(`${hubBase(policy)}/v2/${repository}/manifests/${encodeURIComponent(tag)}`);
}

/** A folder of the hub: `hf:owner/repo[#revision]`. @throws {JobFailure} `model_invalid` for anything else. */
export function parseHubFolder(text: string): { readonly repository: string; readonly revision: string } {
  const [, owner = "", repo = "", revision = "main"] = /^hf:([^/:#]*)\/([^/:#]*)(?:#([^#]+))?$/.exec(text) ?? [];
  if (!REPOSITORY_NAME.test(owner) || !REPOSITORY_NAME.test(repo)) throw refuse(text, "names no repository");
  return { repository: `${owner}/${repo}`, revision };
}

/** Address of the hub's account of a repository at a revision; `sha` in it is the commit. */
export function hubRevisionUrl(policy: FetchPolicy, repository: string, revision: string): URL {
  return new URL(`${hubBase(policy)}/api/models/${repository}/revision/${encodeURIComponent(revision)}`);
}

/** Address of the list of a repository's files, all folders in one. */
export function hubTreeUrl(policy: FetchPolicy, repository: string, commit: string): URL {
  return new URL(`${hubBase(policy)}/api/models/${repository}/tree/${encodeURIComponent(commit)}?recursive=true`);
}

function hubSource(text: string, policy: FetchPolicy): ModelSource {
  const [name = "", revision, ...extra] = text.slice("hf:".length).split("#");
  const [, owner = "", repo = "", separator, rest = ""] = /^([^/:]*)\/([^/:]*)(?:([/:])(.*))?$/.exec(name) ?? [];
  if (!REPOSITORY_NAME.test(owner) || !REPOSITORY_NAME.test(repo)) throw refuse(text, "names no repository");
  if (extra.length > 0 || revision === "") throw refuse(text, "has a bad revision");
  const repository = `${owner}/${repo}`;
  if (separator === undefined || (separator === ":" && QUANTISATION.test(rest))) {
    if (revision !== undefined) throw refuse(text, "has a revision, which needs a file");
    return { kind: "hub-tag", repository, tag: separator === undefined ? "latest" : rest, extension: "gguf" };
  }
  return fileSource(text, hubFileUrl(policy, repository, rest, revision ?? "main"));
}

function coordinatorPath(text: string, policy: FetchPolicy): ModelSource {
  if (policy.coordinator === null) throw refuse(text, "is a path of a coordinator, and none is set");
  const base = policy.coordinator.pathname.replace(/\/+$/, "");
  const url = URL.parse(`${policy.coordinator.origin}${base}${text}`);
  // After parsing, so that "/models/../x" is seen for what it is.
  if (url === null || !url.pathname.startsWith(`${base}/models/`)) throw refuse(text, "is not below /models/");
  return fileSource(text, url);
}

function fileSource(text: string, url: URL): ModelSource {
  if (SPLIT_FILE.test(url.pathname)) throw refuse(text, "is split into several files");
  return { kind: "file", url, extension: /\.([a-z0-9]{1,8})$/i.exec(url.pathname)?.[1]?.toLowerCase() ?? "" };
}

function hubBase(policy: FetchPolicy): string {
  return `${policy.hub.origin}${policy.hub.pathname.replace(/\/+$/, "")}`;
}

function refuse(text: string, why: string): JobFailure {
  return new JobFailure("model_invalid", `Model address "${text.slice(0, 200)}" ${why}`);
}
