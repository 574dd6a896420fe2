import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const FILES_OF_A_PAGE = 2;

/** A repository, or a model of a registry. Its fields may be changed while the server runs. */
interface Repository {
  files: Record<string, Buffer>;
  commit: string;
  licence?: string;
  /** The only token that may read the files. */
  token?: string;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * A model hub on 127.0.0.1 that speaks the HTTP of huggingface.co (`/api/models`, trees in pages, `/resolve` with redirects to a second
 * server, which sends ranges of the bytes) and of Ollama's registry (`/v2`). Source: docs of the hub's API; the manifest that llama.cpp
 * reads; OCI Distribution Specification 1.1.
 */
export class HubServer implements AsyncDisposable {
  /** Path of every request, with its range and token, in order. */
  readonly requests: {
    readonly path: string;
    readonly range: string | undefined;
    readonly token: string | undefined;
  }[] = [];
  readonly #repositories = new Map<string, Repository>();
  readonly #faults: { readonly path: RegExp; readonly handler: Handler }[] = [];
  readonly #hub: Server;
  readonly #cdn: Server;

  /** Whether bytes come from another server. Islands follow redirects without TLS only to the hub itself. */
  hasCdn = true;

  private constructor(hub: Server, cdn: Server) {
    this.#hub = hub;
    this.#cdn = cdn;
    hub.on("request", (request, response) => this.#respond(request, response));
    cdn.on("request", (request, response) => this.#sendBytes(request, response));
  }

  static async start(): Promise<HubServer> {
    const servers = [createServer(), createServer()] as const;
    for (const server of servers) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    return new HubServer(...servers);
  }

  get url(): string {
    return urlOf(this.#hub);
  }

  /** Adds a repository, and returns it. */
  put(name: string, files: Record<string, Buffer>, more: Partial<Repository> = {}): Repository {
    const repository = { files, commit: createHash("sha1").update(name).digest("hex"), ...more };
    this.#repositories.set(name, repository);
    return repository;
  }

  /** Answers requests of matching paths, of both servers, with `handler`, from now on. */
  fail(path: RegExp, handler: Handler): void {
    this.#faults.unshift({ path, handler });
  }

  heal(): void {
    this.#faults.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#hub, this.#cdn]) {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    }
  }

  /** Records the request. Returns true if a fault answered it. */
  #begin(request: IncomingMessage, response: ServerResponse): boolean {
    const path = request.url ?? "";
    const token = request.headers.authorization?.replace("Bearer ", "");
    this.requests.push({ path, range: request.headers.range, token });
    const fault = this.#faults.find((each) => each.path.test(path));
    fault?.handler(request, response);
    return fault !== undefined;
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    if (request.url?.endsWith("?signature=1") === true) return this.#sendBytes(request, response);
    if (this.#begin(request, response)) return;
    const url = new URL(request.url ?? "", this.url);
    const path = decodeURIComponent(url.pathname);
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/([^/]+)$/.exec(path);
    const file = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(path);
    const registry = /^\/v2\/([^/]+\/[^/]+)\/(manifests|blobs)\/(.+)$/.exec(path);
    const repository = this.#repositories.get((api ?? file ?? registry)?.[1] ?? "");
    if (repository === undefined) return void response.writeHead(api === null ? 404 : 401).end();
    const isOf = (revision = ""): boolean => ["main", repository.commit].includes(revision);
    if (api !== null && isOf(api[3])) {
      return api[2] === "tree"
        ? sendTree(repository, url, response)
        : sendJson(response, describe(api[1] ?? "", repository));
    }
    if (file !== null && isOf(file[2])) return this.#redirectToBytes(file[1] ?? "", file[3] ?? "", request, response);
    if (registry?.[2] === "manifests") return sendManifest(repository, request, response);
    const blob = Object.keys(repository.files).find(
      (each) => `sha256:${hashOf(repository.files[each])}` === registry?.[3],
    );
    if (registry !== null && blob !== undefined) {
      return void response.writeHead(307, { location: this.#bytesAt(registry[1] ?? "", blob) }).end();
    }
    response.writeHead(404).end();
  }

  #redirectToBytes(name: string, path: string, request: IncomingMessage, response: ServerResponse): void {
    const { files, commit, token } = this.#repositories.get(name) as Repository;
    const bytes = files[path];
    if (bytes === undefined) return void response.writeHead(404).end();
    const given = request.headers.authorization;
    if (token !== undefined && given !== `Bearer ${token}`) {
      return void response.writeHead(given === undefined ? 401 : 403, { "x-error-code": "GatedRepo" }).end();
    }
    const headers = { "x-repo-commit": commit, "x-linked-etag": `"${hashOf(bytes)}"`, "x-linked-size": bytes.length };
    response.writeHead(302, { ...headers, location: this.#bytesAt(name, path) }).end();
  }

  #bytesAt(name: string, path: string): string {
    return `${urlOf(this.hasCdn ? this.#cdn : this.#hub)}/${name}/${encodeURIComponent(path)}?signature=1`;
  }

  #sendBytes(request: IncomingMessage, response: ServerResponse): void {
    if (this.#begin(request, response)) return;
    const [, user = "", repo = "", path = ""] = new URL(request.url ?? "", this.url).pathname.split("/");
    const bytes = this.#repositories.get(`${user}/${repo}`)?.files[decodeURIComponent(path)];
    if (bytes === undefined) response.writeHead(404).end();
    else sendRange(bytes, request, response);
  }
}

/** Sends bytes, or the requested range of them. */
export function sendRange(bytes: Buffer, { headers }: IncomingMessage, response: ServerResponse): void {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
  if (from === undefined) return void response.writeHead(200, { "content-length": bytes.length }).end(bytes);
  const start = Number(from);
  const end = Math.min(bytes.length - 1, to === "" ? Infinity : Number(to));
  if (start > end) return void response.writeHead(416, { "content-range": `bytes */${bytes.length}` }).end();
  response.writeHead(206, { "content-range": `bytes ${start}-${end}/${bytes.length}` });
  response.end(bytes.subarray(start, end + 1));
}

function describe(id: string, { commit, licence, token }: Repository): object {
  const gated = token === undefined ? false : "manual";
  return { id, sha: commit, private: false, gated, cardData: licence === undefined ? null : { license: licence } };
}

function sendTree({ files }: Repository, url: URL, response: ServerResponse): void {
  const start = Number(url.searchParams.get("cursor") ?? 0);
  const paths = Object.keys(files);
  if (start + FILES_OF_A_PAGE < paths.length) {
    const next = `https://huggingface.co${url.pathname}?recursive=true&cursor=${start + FILES_OF_A_PAGE}`;
    response.setHeader("link", `<${next}>; rel="next"`);
  }
  const page = paths.slice(start, start + FILES_OF_A_PAGE).map((path) => {
    const { length: size = 0 } = files[path] ?? {};
    const isLarge = path.endsWith(".gguf");
    return { type: "file", path, size, oid: "1", ...(isLarge ? { lfs: { oid: hashOf(files[path]), size } } : {}) };
  });
  sendJson(response, page);
}

/** Sends Ollama's manifest, and to llama.cpp also the name of the first file. */
function sendManifest({ files }: Repository, { headers }: IncomingMessage, response: ServerResponse): void {
  const layers = Object.entries(files).map(([path, bytes]) => {
    const kind = path.endsWith("LICENSE") ? "license" : /mmproj/.test(path) ? "projector" : "model";
    const mediaType = `application/vnd.ollama.image.${kind}`;
    return { mediaType, digest: `sha256:${hashOf(bytes)}`, size: bytes.length };
  });
  const isLlama = headers["user-agent"] === "llama-cpp";
  sendJson(response, {
    schemaVersion: 2,
    layers,
    ...(isLlama ? { ggufFile: { rfilename: Object.keys(files)[0] } } : {}),
  });
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}

function hashOf(bytes: Buffer | undefined): string {
  return createHash("sha256")
    .update(bytes ?? "")
    .digest("hex");
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
