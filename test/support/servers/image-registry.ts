import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { makeTarGz, type TarEntry } from "../tar.ts";

const MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json";
const CONFIG_TYPE = "application/vnd.docker.container.image.v1+json";
const LAYER_TYPE = "application/vnd.docker.image.rootfs.diff.tar.gzip";

/** Faults of a repository. */
export type RegistryFault = "unauthorized" | "unavailable" | "stalled" | "other manifest";

/**
 * A container registry on 127.0.0.1, which engines accept without TLS. Source: OCI Distribution Specification 1.1,
 * pull.
 */
export class ImageRegistry {
  /** Paths of requested blobs, in order. */
  readonly blobRequests: string[] = [];
  readonly faults = new Map<string, RegistryFault>();
  readonly #server: Server;
  readonly #blobs = new Map<string, Buffer>();
  /** Manifests by `repository:tag` and `repository:digest`. */
  readonly #manifests = new Map<string, Buffer>();
  readonly #stalls = new Map<string, PromiseWithResolvers<void>>();

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => this.#respond(request.url ?? "", response));
  }

  static async start(): Promise<ImageRegistry> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new ImageRegistry(server);
  }

  /** `host:port`, the start of image names. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Publishes an image under a tag, and returns its digest. */
  publish(repository: string, tag: string, layers: readonly (readonly TarEntry[])[]): string {
    const packed = layers.map((entries) => makeTarGz(entries));
    const config = this.#keep(
      Buffer.from(
        JSON.stringify({
          architecture: process.arch === "arm64" ? "arm64" : "amd64",
          os: "linux",
          config: {},
          rootfs: { type: "layers", diff_ids: packed.map((layer) => digestOf(gunzipSync(layer))) },
        }),
      ),
    );
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST_TYPE,
        config: { mediaType: CONFIG_TYPE, ...config },
        layers: packed.map((layer) => ({ mediaType: LAYER_TYPE, ...this.#keep(layer) })),
      }),
    );
    this.#manifests.set(`${repository}:${tag}`, manifest);
    this.#manifests.set(`${repository}:${digestOf(manifest)}`, manifest);
    return digestOf(manifest);
  }

  /** Resolves when half of a layer of a stalled repository has been sent. */
  stalled(repository: string): Promise<void> {
    return this.#stallOf(repository).promise;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #keep(blob: Buffer): { digest: string; size: number } {
    const digest = digestOf(blob);
    this.#blobs.set(digest, blob);
    return { digest, size: blob.length };
  }

  #respond(url: string, response: ServerResponse): void {
    const [, repository = "", kind = "", name = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/(.+)$/.exec(url) ?? [];
    const fault = this.faults.get(repository);
    response.setHeader("Docker-Distribution-Api-Version", "registry/2.0");
    if (url === "/v2/") return void response.end("{}");
    if (fault === "unauthorized") return refuse(response, 401, "UNAUTHORIZED", "authentication required");
    if (fault === "unavailable") return refuse(response, 503, "UNAVAILABLE", "come back later");
    if (kind === "manifests") return this.#sendManifest(repository, name, fault, response);
    this.blobRequests.push(name);
    const blob = this.#blobs.get(name);
    if (blob === undefined) return refuse(response, 404, "BLOB_UNKNOWN", "blob unknown");
    response.setHeader("Content-Length", blob.length);
    if (fault !== "stalled" || blob[0] !== 0x1f) return void response.end(blob);
    response.write(blob.subarray(0, blob.length / 2));
    this.#stallOf(repository).resolve();
  }

  #stallOf(repository: string): PromiseWithResolvers<void> {
    const stall = this.#stalls.get(repository) ?? Promise.withResolvers<void>();
    this.#stalls.set(repository, stall);
    return stall;
  }

  #sendManifest(repository: string, name: string, fault: RegistryFault | undefined, response: ServerResponse): void {
    let manifest = this.#manifests.get(`${repository}:${name}`);
    if (manifest === undefined) return refuse(response, 404, "MANIFEST_UNKNOWN", "manifest unknown");
    if (fault === "other manifest") manifest = Buffer.concat([manifest, Buffer.from("\n")]);
    response.setHeader("Content-Type", MANIFEST_TYPE);
    response.setHeader("Docker-Content-Digest", digestOf(manifest));
    response.setHeader("Content-Length", manifest.length);
    response.end(manifest);
  }
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  if (status === 401) response.setHeader("WWW-Authenticate", 'Basic realm="test"');
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify({ errors: [{ code, message }] }));
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
