import { z } from "@hono/zod-openapi";
import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { HttpBindings } from "@hono/node-server";
import { ServiceError } from "../../../shared/errors.ts";
import type { FileRecord } from "../../store/files/files.ts";

const BINARY = { "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) } };
export const FILE_RESPONSES = {
  200: { description: "The content", content: BINARY },
  206: { description: "The part that `Range` names", content: BINARY },
  304: { description: "The file is unchanged, according to If-None-Match or If-Modified-Since" },
  412: { description: "The precondition If-Match or If-Unmodified-Since failed" },
  416: { description: "`Range` lies outside the content" },
} as const;

interface FileResponse {
  readonly root: string;
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Message for the client when the file does not exist. */
  readonly missing: string;
}

export function contentHeaders({ sha256, createdAtMs }: Pick<FileRecord, "createdAtMs" | "sha256">) {
  return {
    ETag: `"${sha256}"`,
    // This is the time of the file, not of its content, which another account may have uploaded earlier.
    "Last-Modified": new Date(createdAtMs).toUTCString(),
    "Content-Type": "application/octet-stream",
  };
}

/**
 * Sends a file with support for Range, ETag and conditional requests, bypassing Hono. Resolves when the response has
 * started.
 * @throws {ServiceError} `not_found`. Any other error is unexpected.
 */
export async function sendFile({ incoming, outgoing }: HttpBindings, { root, name, headers, missing }: FileResponse) {
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
      // Errors of the package http-errors have an HTTP status; errors of node:fs do not.
      .on("error", (error: Error & { readonly status?: number }) => {
        if (error.status === 404) reject(new ServiceError("not_found", missing));
        else if (error.status === 412 || error.status === 416) outgoing.writeHead(error.status).end();
        else if (outgoing.headersSent) outgoing.destroy(error);
        else reject(error);
      })
      .pipe(outgoing);
  });
}
