import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { serveWorker } from "../harness/worker.ts";

/** Worker process: an HTTP server that passes each request to another and copies the response, as little as possible. */
const api = {
  /** Starts the relay. @returns its address. */
  listen({ to }: { to: string }): Promise<string> {
    const server = createServer((received, response) => {
      const { method, url, headers } = received;
      const sent = request(`${to}${url}`, { method, headers, agent: false }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      sent.on("error", () => response.destroy());
      response.on("close", () => sent.destroy());
      received.pipe(sent);
    });
    return new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    });
  },
};

export type PlainRelayApi = typeof api;
serveWorker(api);
