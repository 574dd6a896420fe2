import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { HttpBindings } from "@hono/node-server";
import send from "send";
import { ServiceError } from "../../shared/errors.ts";
import type { HttpApp, HttpDeps } from "./http-deps.ts";

/** One file name, no folder, nothing hidden. */
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.gguf$/;

/**
 * Serves the GGUF files that come with the product, for Islands that have no hub: GET and HEAD /models/<file>.gguf with Range
 * and ETag. Anyone may fetch them, as anyone may join.
 */
export function serveModelFiles(app: HttpApp, { modelsDirectory }: Pick<HttpDeps, "modelsDirectory">): void {
  app.get("/models/:file", (c) => {
    const name = c.req.param("file");
    if (!FILE_NAME.test(name)) throw noSuchFile(name);
    return sendFile(c.env, modelsDirectory, name);
  });
}

/** Resolves when the answer is under way. @throws {ServiceError} `not_found`; what else `send` throws is a fault. */
function sendFile({ incoming, outgoing }: HttpBindings, root: string, name: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    const settle = (): void => resolve(RESPONSE_ALREADY_SENT);
    outgoing.once("finish", settle).once("close", settle);
    send(incoming, `/${name}`, { root, dotfiles: "ignore", index: false })
      .on("headers", (response: ServerResponse) => response.setHeader("Content-Type", "application/octet-stream"))
      .on("stream", settle)
      .on("directory", () => reject(noSuchFile(name)))
      .on("error", (error: SendError) => {
        if (error.status === 404) reject(noSuchFile(name));
        else if (error.status === 412 || error.status === 416) outgoing.writeHead(error.status).end();
        else if (outgoing.headersSent) outgoing.destroy(error);
        else reject(error);
      })
      .pipe(outgoing);
  });
}

/** What `send` gives: an error of node:fs, or of http-errors with the status that it stands for. */
interface SendError extends Error {
  readonly status?: number;
}

function noSuchFile(name: string): ServiceError {
  return new ServiceError("not_found", `There is no model file "${name}"`);
}
