import { z } from "@hono/zod-openapi";
import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { HttpBindings } from "@hono/node-server";
import { ServiceError } from "../../../shared/errors.ts";
import type { FileRecord } from "../../store/files/files.ts";

const BINARY = { "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) } };
/** What the document says of an operation that {@link sendFile} answers. */
export const FILE_ANSWERS = {
  200: { description: "The content", content: BINARY },
  206: { description: "The part that Range names", content: BINARY },
  304: { description: "Of If-None-Match or If-Modified-Since: the client has it already" },
  412: { description: "If-Match or If-Unmodified-Since does not hold" },
  416: { description: "No part of the content is in Range" },
} as const;

interface FileAnswer {
  /** Folder that contains the file. */
  readonly root: string;
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Message for the client when the file does not exist. */
  readonly missing: string;
}

/** Headers of a stored file besides those of its use. */
export function contentHeaders({ sha256, createdAtMs }: Pick<FileRecord, "createdAtMs" | "sha256">) {
  return {
    ETag: `"${sha256}"`,
    // Not that of the content, which another account may have brought before.
    "Last-Modified": new Date(createdAtMs).toUTCString(),
    "Content-Type": "application/octet-stream",
  };
}

/**
 * Sends a file with Range, ETag and conditional requests, bypassing Hono. Resolves when the answer has begun. The library is loaded with
 * the first file.
 * @throws {ServiceError} `not_found`. Any other error is unexpected.
 */
export async function sendFile({ incoming, outgoing }: HttpBindings, { root, name, headers, missing }: FileAnswer) {
  const { default: send } = await import("send");
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

/** An error of `send`: from node:fs, or from http-errors with an HTTP status. */
interface SendError extends Error {
  readonly status?: number;
}
