import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A span in OTLP's JSON format. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Status of the span. 2 is an error. */
  readonly status: { readonly code?: number };
}

/** A trace collector for OTLP over HTTP in JSON. */
export class OtlpServer implements AsyncDisposable {
  readonly spans: OtlpSpan[] = [];
  /** Path and resource attributes of each request. */
  readonly requests: { readonly path: string; readonly resource: Readonly<Record<string, unknown>> }[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        this.#take(request.url ?? "", body);
        response.writeHead(200, { "content-type": "application/json" }).end("{}");
      });
    });
  }

  static async start(): Promise<OtlpServer> {
    const server = new OtlpServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(path: string, body: string): void {
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: ResourceSpans[] };
    for (const { resource, scopeSpans } of resourceSpans) {
      this.requests.push({ path, resource: attributesOf(resource.attributes) });
      for (const { spans } of scopeSpans)
        for (const { attributes, ...span } of spans) this.spans.push({ ...span, attributes: attributesOf(attributes) });
    }
  }
}

interface ResourceSpans {
  readonly resource: { readonly attributes: readonly Attribute[] };
  readonly scopeSpans: readonly {
    readonly spans: readonly (Omit<OtlpSpan, "attributes"> & { readonly attributes: readonly Attribute[] })[];
  }[];
}

interface Attribute {
  readonly key: string;
  /** An object with one member that is named by its type, such as `stringValue`. */
  readonly value: Readonly<Record<string, unknown>>;
}

function attributesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
