import { once } from "node:events";
import {
  createServer,
  request as requestUpstream,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { ResponseWatch } from "../support/http/response-watch.ts";

/** Fault of one request. */
export type Fault =
  | { readonly kind: "pass" }
  /** Closes the connection before the request reaches the coordinator. */
  | { readonly kind: "refuse" }
  /** Delivers the request, and drops its response. */
  | { readonly kind: "swallow" }
  /** Breaks the connection after `afterBytes` of the response body. */
  | { readonly kind: "cut"; readonly afterBytes: number }
  /** Ends the response after `afterBytes` of its body, as if it were complete. */
  | { readonly kind: "end"; readonly afterBytes: number }
  /** Stops sending after `afterBytes` of the response body. */
  | { readonly kind: "stall"; readonly afterBytes: number }
  | {
      readonly kind: "respond";
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: unknown;
    }
  /** Never responds. */
  | { readonly kind: "silence" };

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

/**
 * Proxy between client and coordinator that applies the next fault to each request. It forwards a request unchanged if
 * there is no fault.
 */
export class FaultyProxy implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  readonly #server: Server;
  readonly #upstream: () => string;
  #faults: Fault[] = [];
  #wakers = new Set<() => void>();

  private constructor(upstream: () => string) {
    this.#upstream = upstream;
    this.#server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));
  }

  static async open(upstream: () => string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(upstream);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets the faults of the next requests, in order. Clears earlier faults and seen requests. */
  script(...faults: Fault[]): void {
    this.#faults = faults;
    this.seen.length = 0;
  }

  /** Resolves when `count` requests were seen since the last script. */
  async sees(count: number): Promise<void> {
    while (this.seen.length < count) {
      await new Promise<void>((resolve) => this.#wakers.add(resolve));
    }
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const fault = this.#faults.shift() ?? { kind: "pass" };
    this.seen.push({ method: incoming.method ?? "", path: incoming.url ?? "", headers: incoming.headers });
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
    switch (fault.kind) {
      case "refuse":
        incoming.socket.destroy();
        return;
      case "silence":
        return;
      case "respond":
        outgoing.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
        outgoing.end(typeof fault.body === "string" ? fault.body : JSON.stringify(fault.body ?? {}));
        return;
      default:
        await this.#relay(incoming, outgoing, fault).catch(() => outgoing.destroy());
    }
  }

  async #relay(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    fault: Extract<Fault, { kind: "pass" | "swallow" | "cut" | "end" | "stall" }>,
  ): Promise<void> {
    const { method, headers, url } = incoming;
    const upstream = requestUpstream(new URL(url ?? "/", this.#upstream()), { method, headers, agent: false });
    outgoing.once("close", () => upstream.destroy());
    incoming.pipe(upstream);
    const [response] = (await once(upstream, "response")) as [IncomingMessage];
    if (fault.kind === "swallow") {
      await response.toArray();
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    outgoing.flushHeaders();
    const watch = fault.kind === "pass" ? await watchOf(incoming, response) : undefined;
    let left = fault.kind === "pass" ? Infinity : fault.afterBytes;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const part = chunk.subarray(0, left);
      watch?.push(part);
      left -= part.length;
      if (part.length > 0) await new Promise<void>((resolve) => outgoing.write(part, () => resolve()));
      if (left > 0) continue;
      if (fault.kind === "end") outgoing.end();
      if (fault.kind === "cut") outgoing.destroy();
      return;
    }
    watch?.end();
    if (fault.kind === "cut") outgoing.destroy();
    else outgoing.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}

/** Checks a forwarded response against the OpenAPI document, because the watch of `fetch` sees only the proxy. */
function watchOf(incoming: IncomingMessage, response: IncomingMessage): Promise<ResponseWatch> {
  const headers = new Headers();
  for (const [name, values] of Object.entries(response.headersDistinct)) headers.set(name, values?.join(", ") ?? "");
  const path = (incoming.url ?? "").split("?", 1)[0] ?? "";
  return ResponseWatch.begin({ method: incoming.method ?? "", path, status: response.statusCode ?? 0, headers });
}
