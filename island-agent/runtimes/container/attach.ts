import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";

/**
 * Attaches to a container's standard streams. Writes to the socket are standard input, and ending the socket ends the
 * input. Reads are output frames (see stream-demux.ts). Dockerode is not used: it sends its options as a body, which
 * Podman passes to the container as input.
 * @param to socket path, or host, port and certificates of the engine.
 */
export function attach(to: RequestOptions, containerName: string, signal: AbortSignal): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const request = (to.protocol === "https:" ? httpsRequest : httpRequest)({
    ...to,
    method: "POST",
    path: `/containers/${containerName}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
    headers: { Connection: "Upgrade", Upgrade: "tcp", "Content-Length": 0 },
    // No connection pool: an attached socket cannot be reused.
    agent: false,
    signal,
  });
  request.on("upgrade", (_, socket, head) => {
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  request.on("response", (response) => {
    response.resume();
    reject(Object.assign(new Error("The engine did not attach"), { statusCode: response.statusCode }));
  });
  request.on("error", reject);
  request.end();
  return promise;
}
