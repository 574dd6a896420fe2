import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { ServiceError } from "../../../shared/errors.ts";
import { answerError } from "../error-answers.ts";
import { endWith } from "./protocol-refusals.ts";

/** Request headers that offer another protocol; without them the rest is a plain request. */
const UPGRADE_HEADERS = new Set(["upgrade", "http2-settings"]);

/**
 * Answers a refused upgrade like any refused request, with `headers` added. `thrown` is what the upgrade's handler threw;
 * anything but a ServiceError closes the socket without an answer.
 */
export function refuseUpgrade(socket: Duplex, thrown: unknown, headers: Readonly<Record<string, string>>): void {
  if (!(thrown instanceof ServiceError)) {
    socket.destroy();
    return;
  }
  const answer = answerError(thrown, { requestId: "", style: "plain" });
  endWith(socket, { ...answer, headers: { ...answer.headers, ...headers } });
}

/**
 * Serves a request that offers an upgrade as if it had not. Node before 24.9 does not know `shouldUpgradeCallback` and emits
 * "upgrade" for every such request, with its body unread. So this writes the request back into its socket without the offer
 * and gives the socket to the server as a new connection.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (!UPGRADE_HEADERS.has(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}
