import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";

/** Headers that offer another protocol; without them the rest is a plain request. */
const OFFERS = new Set(["upgrade", "http2-settings"]);

/**
 * Serves a request as if it had offered no upgrade. Before Node 24.9, which asks `shouldUpgradeCallback`, a server with an "upgrade"
 * listener gets every such request there, its body unread: so the request goes back into its socket without the offer,
 * and the server takes the socket as a new connection.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (!OFFERS.has(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}
