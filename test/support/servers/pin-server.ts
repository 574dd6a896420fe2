import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const DIGEST = `sha256:${"1".repeat(64)}`;
export const FILE_HASH = "2".repeat(64);
export const COMMIT = "3".repeat(40);
const TOKEN = "token-for-pulls";

/**
 * A registry with token authentication and a model hub in one server on 127.0.0.1, which the look-up of pins queries.
 * Repositories of the registry: `open/image`, `guarded/image` (requires a token), `closed/image` (issues none),
 * `silent/image` (never responds), `bare/image` (no digest). Everything else is not found.
 */
export class PinServer {
  /** Method and path of every request, in order. */
  readonly requests: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => this.#respond(request, response));
  }

  static async start(): Promise<PinServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PinServer(server);
  }

  /** `host:port`, the start of image names. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get hub(): string {
    return `http://${this.host}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "", this.hub);
    this.requests.push(`${request.method} ${url.pathname}`);
    const [, repository] = /^\/v2\/(.+)\/manifests\/1\.0$/.exec(url.pathname) ?? [];
    if (repository !== undefined) return this.#sendManifest(repository, request, response);
    if (url.pathname === "/token") return sendToken(url, response);
    if (url.pathname === "/api/models/owner/repo/revision/main") {
      return void response.setHeader("content-type", "application/json").end(JSON.stringify({ sha: COMMIT }));
    }
    if (url.pathname === "/owner/repo/resolve/main/file.gguf") {
      response.statusCode = 302;
      return void response.setHeader("x-linked-etag", `"${FILE_HASH}"`).setHeader("location", "/elsewhere").end();
    }
    response.statusCode = 404;
    response.end();
  }

  #sendManifest(repository: string, { headers }: IncomingMessage, response: ServerResponse): void {
    if (repository === "silent/image") return;
    const isKnown = ["open/image", "guarded/image", "closed/image", "bare/image"].includes(repository);
    const isGuarded = repository === "guarded/image" || repository === "closed/image";
    if (isGuarded && headers.authorization !== `Bearer ${TOKEN}`) {
      const scope = `repository:${repository}:pull`;
      response.setHeader("www-authenticate", `Bearer realm="${this.hub}/token",service="tests",scope="${scope}"`);
      response.statusCode = 401;
    } else if (!isKnown || !(headers.accept ?? "").includes("vnd.oci.image.index.v1+json")) {
      response.statusCode = 404;
    } else if (repository !== "bare/image") response.setHeader("docker-content-digest", DIGEST);
    response.end();
  }
}

function sendToken({ searchParams }: URL, response: ServerResponse): void {
  const isRight =
    searchParams.get("service") === "tests" && searchParams.get("scope") === "repository:guarded/image:pull";
  if (!isRight) response.statusCode = 403;
  response.end(isRight ? JSON.stringify({ access_token: TOKEN }) : "{}");
}
