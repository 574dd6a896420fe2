import { resolve, sep } from "node:path";
import { z } from "zod";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { type ModelAddress, ModelAddressError, parseModelAddress } from "../../../shared/model-address.ts";
import { readCargo } from "../cargo-file.ts";
import type { CargoFile } from "../cargo-fields.ts";
import { isPin, type PinKind, pinKindOf, type Pins, pinsOf, withPins } from "../cargo-pins.ts";
import { hashOfFile } from "../imported-models.ts";
import { ask, type LookupPolicy, PinLookupError, readJson } from "./lookup-http.ts";

export interface PinSources extends LookupPolicy {
  /** Folder of the shipped catalog. */
  readonly catalogDirectory: string;
}

type HubAddress = Extract<ModelAddress, { kind: "hub" }>;

const DEFAULT_REVISION = "main";
const commitSchema = z.object({ sha: z.string().regex(/^[0-9a-f]{40}$/) });

const PIN_NAMES: Readonly<Record<PinKind, string>> = {
  imageDigest: "the digest of its image (sha256: and 64 hex digits)",
  modelHash: "the SHA-256 of its file (64 hex digits)",
  modelCommit: "the commit of its folder on the hub (40 hex digits)",
};

/** A pin is missing and could not be looked up. */
export class UnpinnedError extends ServiceError {
  override readonly name = "UnpinnedError";
  readonly kind: PinKind;
  readonly reason: string;
  /** Whether the host is in a local network, so that no request was sent to it. */
  readonly isPrivate: boolean;
  constructor(slug: string, kind: PinKind, cause: Error) {
    const message = `${slug} could not be pinned: ${cause.message}. Find ${PIN_NAMES[kind]} elsewhere and pass it`;
    super("bad_request", message, { cause });
    this.kind = kind;
    this.reason = cause.message;
    this.isPrivate = cause instanceof PinLookupError && cause.isPrivate;
  }
}

/**
 * Returns the Cargo with its pin: the one in `given`, its own pin, or the current pin at the registry, hub or catalog.
 * @throws {UnpinnedError} if there is no pin; {@link ServiceError} `bad_request` for a given pin that does not fit;
 *   {@link ValidationError}
 */
export async function resolvePins(
  file: CargoFile,
  given: Pins,
  sources: PinSources,
  signal: AbortSignal,
): Promise<CargoFile> {
  const kind = pinKindOf(file);
  assertFitting(file, given, kind);
  if (kind === null) return file;
  const pin = given[kind] ?? pinsOf(file)[kind] ?? (await lookUp(file, kind, sources, signal));
  const read = readCargo(withPins(file, { [kind]: pin }));
  if ("errors" in read) throw new ValidationError(read.errors);
  return read.file;
}

/** Checks that given pins fit the Cargo. @throws {ServiceError} `bad_request` */
function assertFitting(file: CargoFile, given: Pins, kind: PinKind | null): void {
  for (const [name, pin] of Object.entries(given) as [PinKind, string | undefined][]) {
    if (pin === undefined) continue;
    if (name !== kind) {
      const wanted = kind === null ? "needs no pin, but got" : `must be pinned with ${PIN_NAMES[kind]}, not with`;
      throw new ServiceError("bad_request", `${file.slug} ${wanted} ${PIN_NAMES[name]}`);
    }
    if (!isPin(kind, pin)) throw new ServiceError("bad_request", `"${pin}" is not ${PIN_NAMES[kind]}`);
    const present = pinsOf(file)[kind];
    if (present !== undefined && present !== pin) {
      throw new ServiceError(
        "bad_request",
        `${file.slug} is already pinned to ${present} and cannot be pinned to ${pin}`,
      );
    }
  }
}

async function lookUp(file: CargoFile, kind: PinKind, sources: PinSources, signal: AbortSignal): Promise<string> {
  try {
    const { container, model } = file;
    if (container !== undefined) return await registryDigest(container.image, sources, signal);
    const address = parseModelAddress(model?.url ?? "");
    if (address.kind === "coordinator") return await hashOfOwnFile(sources.catalogDirectory, address.path);
    if (address.kind === "url")
      throw new PinLookupError(`${address.url.host} is not a model hub and provides no file hashes`);
    return kind === "modelCommit"
      ? await hubCommit(address, sources, signal)
      : await hubFileHash(address, sources, signal);
  } catch (error) {
    if (!(error instanceof PinLookupError) && !(error instanceof ModelAddressError)) throw error;
    throw new UnpinnedError(file.slug, kind, error);
  }
}

async function hashOfOwnFile(catalogDirectory: string, path: string): Promise<string> {
  const folder = resolve(catalogDirectory, "models");
  const file = resolve(catalogDirectory, `.${path}`);
  if (!file.startsWith(`${folder}${sep}`)) throw new PinLookupError(`${path} is not below /models/`);
  return hashOfFile(file).catch((error: unknown) => {
    throw new PinLookupError(`${file} cannot be read`, { cause: error });
  });
}

async function hubCommit(address: HubAddress, policy: LookupPolicy, signal: AbortSignal): Promise<string> {
  const revision = encodeURIComponent(address.revision ?? DEFAULT_REVISION);
  const url = hubUrl(policy, `api/models/${address.repository}/revision/${revision}`);
  const response = await ask(url, { method: "GET" }, policy, signal);
  if (response.status !== 200) throw hubRefusal(url, address, response.status);
  const { data } = commitSchema.safeParse(await readJson(response, url.host, signal));
  if (data === undefined) throw new PinLookupError(`${url.host} returned no commit for ${address.repository}`);
  return data.sha;
}

/** Returns the SHA-256 of a file, which the hub sends in a header for large files. @throws {PinLookupError} */
async function hubFileHash(address: HubAddress, policy: LookupPolicy, signal: AbortSignal): Promise<string> {
  if (address.file === null) {
    throw new PinLookupError(
      `the address must name a file of ${address.repository}, because the hub's choice may change`,
    );
  }
  const file = address.file.split("/").map(encodeURIComponent).join("/");
  const revision = encodeURIComponent(address.revision ?? DEFAULT_REVISION);
  const url = hubUrl(policy, `${address.repository}/resolve/${revision}/${file}`);
  const response = await ask(url, { method: "HEAD" }, policy, signal);
  if (response.status >= 400) throw hubRefusal(url, address, response.status);
  const hash = (response.headers.get("x-linked-etag") ?? "").replace(/^(?:W\/)?"|"$/g, "");
  if (/^[0-9a-f]{64}$/.test(hash)) return hash;
  throw new PinLookupError(`${url.host} returned no SHA-256 for ${address.repository}/${address.file}`);
}

function hubUrl({ hub }: LookupPolicy, path: string): URL {
  return new URL(`${hub.replace(/\/+$/, "")}/${path}`);
}

function hubRefusal(url: URL, { repository }: HubAddress, status: number): PinLookupError {
  const missing = `no such file or repository: ${repository}`;
  return refusal(url, status, repository, { missing, credential: "a token" });
}

function refusal(
  { host }: URL,
  status: number,
  name: string,
  { missing, credential }: { readonly missing: string; readonly credential: string },
): PinLookupError {
  if (status === 404) return new PinLookupError(`${host} has ${missing}`);
  if (status === 401 || status === 403) return new PinLookupError(`${host} requires ${credential} for ${name}`);
  return new PinLookupError(`${host} responded with ${status} for ${name}`);
}

/**
 * Accepted media types. The image index is first, because its digest is the same for every Island. Source: OCI Image
 * Specification 1.1.
 */
const MANIFEST_TYPES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];
const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Host of Docker Hub's registry. Image names contain another host. */
const DOCKER_HUB = "registry-1.docker.io";
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+)(?::\d+)?$/;
const tokenSchema = z.object({ token: z.string().optional(), access_token: z.string().optional() });

/**
 * Returns the current digest of an image `registry/name:tag`. Source: OCI Distribution Specification 1.1, "Pulling
 * manifests"; for the token, the Docker Registry token specification. @throws {PinLookupError}
 */
async function registryDigest(image: string, policy: LookupPolicy, signal: AbortSignal): Promise<string> {
  const url = manifestUrl(image);
  const accept = MANIFEST_TYPES.join(", ");
  let response = await ask(url, { method: "HEAD", headers: { accept } }, policy, signal);
  if (response.status === 401) {
    const token = await fetchToken(response.headers.get("www-authenticate") ?? "", url, policy, signal);
    const authorization = `Bearer ${token}`;
    response = await ask(url, { method: "HEAD", headers: { accept, authorization } }, policy, signal);
  }
  if (response.status !== 200)
    throw refusal(url, response.status, image, { missing: `no image ${image}`, credential: "a sign-in" });
  const digest = response.headers.get("docker-content-digest") ?? "";
  if (!DIGEST.test(digest)) throw new PinLookupError(`${url.host} returned no SHA-256 digest for ${image}`);
  return digest;
}

function manifestUrl(image: string): URL {
  const slash = image.indexOf("/");
  const colon = image.lastIndexOf(":");
  const host = image.slice(0, slash);
  const name = image.slice(slash + 1, colon);
  const tag = image.slice(colon + 1);
  const isHub = host === "docker.io" || host === "index.docker.io";
  const path = isHub && !name.includes("/") ? `library/${name}` : name;
  return new URL(
    `${LOOPBACK.test(host) ? "http" : "https"}://${isHub ? DOCKER_HUB : host}/v2/${path}/manifests/${tag}`,
  );
}

async function fetchToken(challenge: string, from: URL, policy: LookupPolicy, signal: AbortSignal): Promise<string> {
  const fields = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value]));
  const realm = URL.parse(fields.get("realm") ?? "");
  if (!/^bearer /i.test(challenge) || realm === null) {
    throw new PinLookupError(`${from.host} requires a sign-in, which this command does not support`);
  }
  for (const key of ["service", "scope"]) {
    const value = fields.get(key);
    if (value !== undefined) realm.searchParams.set(key, value);
  }
  const response = await ask(realm, { method: "GET" }, policy, signal);
  const body = response.status === 200 ? await readJson(response, realm.host, signal) : undefined;
  const { data } = tokenSchema.safeParse(body);
  const token = data?.token ?? data?.access_token;
  if (token === undefined) throw new PinLookupError(`${realm.host} returned no token (status ${response.status})`);
  return token;
}
