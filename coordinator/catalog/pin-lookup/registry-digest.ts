import { z } from "zod";
import { ask, PinLookupError, readJson, type LookupPolicy } from "./lookup-http.ts";

/** An index of platforms first: its digest names the image on every Island. Source: OCI Image Specification 1.1. */
const MANIFEST_TYPES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];
const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Docker Hub's registry has another name than its images. */
const DOCKER_HUB = "registry-1.docker.io";
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+)(?::\d+)?$/;
const tokenSchema = z.object({ token: z.string().optional(), access_token: z.string().optional() });

/**
 * The digest that a registry has for an image's tag now. Source: OCI Distribution Specification 1.1, "Pulling manifests"; for the token,
 * the Docker Registry token specification.
 * @param image `registry/name:tag`
 * @throws {PinLookupError}
 */
export async function registryDigest(image: string, policy: LookupPolicy, signal: AbortSignal): Promise<string> {
  const url = manifestUrl(image);
  const accept = MANIFEST_TYPES.join(", ");
  let response = await ask(url, { method: "HEAD", headers: { accept } }, policy, signal);
  if (response.status === 401) {
    const token = await fetchToken(response.headers.get("www-authenticate") ?? "", url, policy, signal);
    const authorization = `Bearer ${token}`;
    response = await ask(url, { method: "HEAD", headers: { accept, authorization } }, policy, signal);
  }
  if (response.status !== 200) throw new PinLookupError(describeRefusal(image, url, response.status));
  const digest = response.headers.get("docker-content-digest") ?? "";
  if (!DIGEST.test(digest)) throw new PinLookupError(`${url.host} names no SHA-256 digest for ${image}`);
  return digest;
}

function manifestUrl(image: string): URL {
  const slash = image.indexOf("/");
  const colon = image.lastIndexOf(":");
  const [host, name, tag] = [image.slice(0, slash), image.slice(slash + 1, colon), image.slice(colon + 1)];
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
    throw new PinLookupError(`${from.host} wants a sign-in, which this command has not`);
  }
  for (const key of ["service", "scope"]) {
    const value = fields.get(key);
    if (value !== undefined) realm.searchParams.set(key, value);
  }
  const response = await ask(realm, { method: "GET" }, policy, signal);
  const answer = tokenSchema.safeParse(
    response.status === 200 ? await readJson(response, realm.host, signal) : undefined,
  );
  const token = answer.data?.token ?? answer.data?.access_token;
  if (token === undefined) throw new PinLookupError(`${realm.host} gave no token (status ${response.status})`);
  return token;
}

function describeRefusal(image: string, { host }: URL, status: number): string {
  if (status === 404) return `${host} has no image ${image}`;
  if (status === 401 || status === 403) return `${host} does not show ${image} without a sign-in`;
  return `${host} answered ${status} for ${image}`;
}
