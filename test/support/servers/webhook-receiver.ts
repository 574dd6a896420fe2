import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { watchWebhook } from "../http/response-watch.ts";

export interface Received {
  readonly headers: Record<string, string>;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- untyped JSON of the API
  readonly body: any;
}

type ScriptedResponse = number | ((request: IncomingMessage, response: ServerResponse) => void);

/** A webhook receiver on a real port. It responds with `responses` in order, and then with 204. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly responses: ScriptedResponse[] = [];
  /** Number of requests that have no response yet. */
  open = 0;
  mostOpen = 0;
  readonly #server: Server;
  readonly #wakers = new Set<() => void>();
  #taken = 0;

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook?for=atoll`;
  }

  /** Returns the next request. Waits for it if necessary. */
  async next(): Promise<Received> {
    while (this.received.length <= this.#taken) {
      await new Promise<void>((resolve) => this.#wakers.add(resolve));
    }
    this.#taken += 1;
    return this.received[this.#taken - 1] as Received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    response.once("close", () => (this.open -= 1));
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
    const scripted = this.responses.shift() ?? 204;
    const body = JSON.parse(text);
    if (/^(job|batch)\./.test(body.type)) await watchWebhook(body);
    this.received.push({ headers: request.headers as Record<string, string>, text, body });
    if (typeof scripted === "number") response.writeHead(scripted).end();
    else scripted(request, response);
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
  }
}

/** Verifies the signature like a real receiver. @throws unless the request was signed with `secret`. */
export function verifySignature(secret: string, { text, headers }: Received): unknown {
  return new Webhook(secret).verify(text, headers);
}
