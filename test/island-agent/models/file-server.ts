import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ServedRequest {
  readonly path: string;
  readonly range: string | null;
  readonly ifRange: string | null;
  readonly authorization: string | null;
  readonly userAgent: string | null;
  /** Number of body bytes written to the socket so far. */
  sentBytes: number;
}

type Handler = (request: IncomingMessage, response: ServerResponse, served: ServedRequest) => void;

/** A real HTTP server on a free port, with scripted responses for each path. */
export class FileServer implements AsyncDisposable {
  readonly requests: ServedRequest[] = [];
  readonly #server: Server;
  readonly #handlers = new Map<string, Handler>();
  readonly #arrivals: { count: number; resolve: () => void }[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      const header = (name: string): string | null => String(request.headers[name] ?? "") || null;
      const path = (request.url ?? "").split("?")[0] ?? "";
      const served: ServedRequest = {
        path,
        range: header("range"),
        ifRange: header("if-range"),
        authorization: header("authorization"),
        userAgent: header("user-agent"),
        sentBytes: 0,
      };
      this.requests.push(served);
      const handler = this.#handlers.get(path);
      if (handler === undefined) response.writeHead(404).end();
      else handler(request, response, served);
      for (const { resolve } of this.#arrivals.filter(({ count }) => this.requests.length >= count)) resolve();
    });
  }

  static async start(): Promise<FileServer> {
    const server = new FileServer();
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  on(path: string, handler: Handler): void {
    this.#handlers.set(path, handler);
  }

  /** Uses each handler for one request, and the last one for all requests that follow. */
  onEach(path: string, ...handlers: Handler[]): void {
    let index = 0;
    this.on(path, (...args) => handlers[Math.min(index++, handlers.length - 1)]?.(...args));
  }

  /** Resolves when `count` requests have arrived, from the start. */
  arrived(count: number): Promise<void> {
    if (this.requests.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#arrivals.push({ count, resolve }));
  }

  openSockets(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Returns pseudo-random bytes, the same for the same seed. */
export function makeBytes(length: number, seed = "model"): Buffer {
  return createHash("shake256", { outputLength: length }).update(seed).digest();
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export interface FileOptions {
  /** ETag with quotes, or null for none. */
  readonly etag?: string | null;
  /** Breaks the connection after this many body bytes. */
  readonly cutAfter?: number;
  /** Stalls after this many body bytes. */
  readonly stallAfter?: number;
  readonly chunked?: boolean;
  readonly ignoreRange?: boolean;
  readonly headers?: Record<string, string>;
}

/** Serves a file like a correct server, with ranges, If-Range, ETag and 416. `options` add faults. */
export function file(bytes: Buffer, options: FileOptions = {}): Handler {
  const { etag = '"v1"' } = options;
  return (request, response, served) => {
    const rangeStart = /^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1];
    const ifRange = request.headers["if-range"];
    const isRange =
      rangeStart !== undefined && options.ignoreRange !== true && (ifRange === undefined || ifRange === etag);
    const start = isRange ? Number(rangeStart) : 0;
    const headers: Record<string, string> = { ...options.headers, ...(etag === null ? {} : { etag }) };
    if (isRange && start >= bytes.length) {
      response.writeHead(416, { ...headers, "content-range": `bytes */${bytes.length}` }).end();
      return;
    }
    const body = bytes.subarray(start);
    if (isRange) headers["content-range"] = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
    if (options.chunked !== true) headers["content-length"] = String(body.length);
    response.writeHead(isRange ? 206 : 200, headers);
    response.flushHeaders();
    const sent = body.subarray(0, options.cutAfter ?? options.stallAfter ?? body.length);
    served.sentBytes = sent.length;
    if (options.cutAfter !== undefined) response.write(sent, () => response.destroy());
    else if (options.stallAfter !== undefined) response.write(sent);
    else response.end(sent);
  };
}

export function status(code: number, headers: Record<string, string> = {}): Handler {
  return (_request, response) => response.writeHead(code, headers).end();
}

export function redirect(location: string, code = 302, headers: Record<string, string> = {}): Handler {
  return status(code, { location, ...headers });
}
