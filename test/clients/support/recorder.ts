import { once } from "node:events";
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Null until the coordinator has responded, or if the client left before. */
  status: number | null;
  responseHeaders: IncomingHttpHeaders;
  /** When the response started, by `performance.now()`. */
  respondedMs: number;
}

/** A reverse proxy in front of the coordinator that keeps every request of a client. */
export class Recorder implements AsyncDisposable {
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;
  readonly #requests: RecordedRequest[];

  private constructor(server: ReturnType<typeof createServer>, requests: RecordedRequest[]) {
    this.#server = server;
    this.#requests = requests;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(target: string): Promise<Recorder> {
    const requests: RecordedRequest[] = [];
    const server = createServer((incoming, outgoing) => forward(target, incoming, outgoing, requests));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Recorder(server, requests);
  }

  /** Requests since the last `clear()`, in the order of their arrival. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  /** Returns the requests to a model, without requests that list models or check the connection. */
  get modelRequests(): readonly RecordedRequest[] {
    return this.#requests.filter(({ method, path }) => method === "POST" && !path.includes("count_tokens"));
  }

  clear(): void {
    this.#requests.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

function forward(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  requests: RecordedRequest[],
): void {
  const { method = "", url: path = "", headers } = incoming;
  const parts: Buffer[] = [];
  incoming.on("data", (part: Buffer) => parts.push(part));
  incoming.once("end", () => {
    const body = Buffer.concat(parts);
    const recorded: RecordedRequest = {
      method,
      path,
      headers,
      body: body.toString(),
      status: null,
      responseHeaders: {},
      respondedMs: Infinity,
    };
    requests.push(recorded);
    const forwarded = request(new URL(path, target), { method, headers, agent: false });
    forwarded.once("response", (response) => {
      recorded.status = response.statusCode ?? null;
      recorded.responseHeaders = response.headers;
      recorded.respondedMs = performance.now();
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      outgoing.flushHeaders();
      response.once("error", () => outgoing.destroy());
      response.pipe(outgoing);
    });
    forwarded.once("error", () => outgoing.destroy());
    outgoing.once("close", () => forwarded.destroy());
    forwarded.end(body);
  });
}
