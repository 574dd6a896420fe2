import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ServiceError } from "../../shared/errors.ts";
import { answerError } from "./errors.ts";

/**
 * Answers an upgrade with the refusal that was thrown, as any request would be, and closes the socket when that is sent: a client
 * that leaves its own side open keeps nothing open here. Anything else that was thrown closes it without a word.
 */
export function refuseUpgrade(socket: Duplex, thrown: unknown): void {
  if (!(thrown instanceof ServiceError)) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = answerError(thrown, { requestId: "", forOpenAi: false });
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
  // What node:http hands over is always a socket.
  (socket as Socket).destroySoon();
}
