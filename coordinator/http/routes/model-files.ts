import { stat } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "../../../shared/errors.ts";
import type { HttpApp, HttpDeps } from "../http-deps.ts";
import { sendFile } from "../server/send-file.ts";

/** A path segment that is neither hidden nor leads out of its folder. */
const NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,200}";
const MODEL_FILE = new RegExp(`^${NAME}\\.(?:gguf|wasm|onnx)$`);
/** Files of a model folder, which its `files.json` lists (catalog/README.md). */
const FILE_OF_FOLDER = new RegExp(
  `^${NAME}(?:/${NAME}){0,5}/${NAME}\\.(?:json|txt|jinja|onnx|onnx_data|onnx_data_\\d{1,3}|pb|bin)$`,
);
const BINARY = { "Content-Type": "application/octet-stream" };

/**
 * Serves the coordinator's own model files to Islands: GET and HEAD /models/<file> (.gguf, .wasm, .onnx) and
 * /models/<folder>/<path>, with Range and ETag. Public.
 */
export function serveModelFiles(app: HttpApp, { modelDirectories }: Pick<HttpDeps, "modelDirectories">): void {
  app.get("/models/:name{.+}", async (c) => {
    c.get("limits").countAddress(c.env.incoming);
    const name = c.req.param("name");
    const missing = `There is no model file "${name}"`;
    if (!MODEL_FILE.test(name) && !FILE_OF_FOLDER.test(name)) throw new ServiceError("not_found", missing);
    const root = await folderWith(name, modelDirectories);
    if (root === undefined) throw new ServiceError("not_found", missing);
    return sendFile(c.env, { root, name, headers: BINARY, missing });
  });
}

async function folderWith(name: string, directories: readonly string[]): Promise<string | undefined> {
  const found = await Promise.all(
    directories.map((directory) =>
      stat(join(directory, name)).then(
        (file) => file.isFile(),
        () => false,
      ),
    ),
  );
  return directories[found.indexOf(true)];
}
