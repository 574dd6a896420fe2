import { ServiceError } from "../../shared/errors.ts";
import type { HttpApp, HttpDeps } from "./http-deps.ts";
import { sendFile } from "./send-file.ts";

/** One file name, no folder, nothing hidden. */
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.(?:gguf|wasm)$/;
const BINARY = { "Content-Type": "application/octet-stream" };

/**
 * Serves the files that come with the product, for Islands that have no hub: GET and HEAD /models/<file>.gguf and .wasm with
 * Range and ETag. Anyone may fetch them, as anyone may join.
 */
export function serveModelFiles(app: HttpApp, { modelsDirectory }: Pick<HttpDeps, "modelsDirectory">): void {
  app.get("/models/:file", (c) => {
    c.get("limits").countAddress(c.env.incoming);
    const name = c.req.param("file");
    const missing = `There is no model file "${name}"`;
    if (!FILE_NAME.test(name)) throw new ServiceError("not_found", missing);
    return sendFile(c.env, { root: modelsDirectory, name, headers: BINARY, missing });
  });
}
