import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { HttpBindings } from "@hono/node-server";
import send from "send";
import { ServiceError } from "../../../shared/errors.ts";

export interface FileAnswer {
  /** Folder that the file must lie in. */
  readonly root: string;
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What a client is told where there is no such file. */
  readonly missing: string;
}

/**
 * Sends a file with Range, ETag and conditional requests, past Hono. Resolves when the answer is under way.
 * @throws {ServiceError} `not_found`; what else `send` throws is a fault.
 */
export function sendFile({ incoming, outgoing }: HttpBindings, { root, name, headers, missing }: FileAnswer) {
  return new Promise<Response>((resolve, reject) => {
    const settle = (): void => resolve(RESPONSE_ALREADY_SENT);
    outgoing.once("finish", settle).once("close", settle);
    send(incoming, `/${name}`, { root, dotfiles: "ignore", index: false })
      .on("headers", (response: ServerResponse) => {
        for (const [header, value] of Object.entries(headers)) response.setHeader(header, value);
      })
      .on("stream", settle)
      .on("directory", () => reject(new ServiceError("not_found", missing)))
      .on("error", (error: SendError) => {
        if (error.status === 404) reject(new ServiceError("not_found", missing));
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
