import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** Response to a path: a JSON value, text, or a function that responds. */
type Scripted = object | string | ((request: IncomingMessage, response: ServerResponse) => void);

/** An engine's HTTP server. Paths without a script respond with 404. */
export class ScriptedEngine implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Values of the `authorization` header, in order of arrival; undefined without one. */
  readonly keys: (string | undefined)[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.url = `http://127.0.0.1:${this.port}`;
  }

  /** @param apiKey required by all paths; default: none. */
  static async open(paths: Readonly<Record<string, Scripted>>, apiKey?: string): Promise<ScriptedEngine> {
    const server = createServer((request, response) => {
      engine.keys.push(request.headers.authorization);
      const script = paths[request.url ?? ""];
      if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
        response.writeHead(401).end('{"error":{"message":"no key"}}');
      } else if (script === undefined) response.writeHead(404).end();
      else if (typeof script === "function") script(request, response);
      else response.end(typeof script === "string" ? script : JSON.stringify(script));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const engine = new ScriptedEngine(server);
    return engine;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Paths of a server of which nothing but OpenAI's API is known. */
export const PLAIN_PATHS = { "/v1/models": { data: [{ id: "plain" }] } };
