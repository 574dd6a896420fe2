import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pythonTypes } from "../../sdk/python/tools/openapi-python.ts";
import { syncSource } from "../../sdk/python/tools/sync-client.ts";
import { openApiTypes } from "../../sdk/typescript/tools/openapi-types.ts";
import { call } from "../support/http.ts";
import { TestCoordinator } from "../support/test-coordinator.ts";

const SDK = join(import.meta.dirname, "..", "..", "sdk");
const PYTHON = join("python", "src", "atoll_client");

/** The generated files of both clients by their paths in sdk/, from the document that this coordinator serves now. */
export async function currentFiles(): Promise<Readonly<Record<string, string>>> {
  await using coordinator = await TestCoordinator.open();
  const { body } = await call(coordinator.url, null, "GET", "/openapi.json");
  const files = { [join("typescript", "src", "openapi.ts")]: await openApiTypes(body) };
  for (const [name, source] of Object.entries(pythonTypes(body))) files[join(PYTHON, name)] = source;
  for (const name of await pythonFiles("_async")) {
    files[join(PYTHON, "_sync", name)] = syncSource(await readGenerated(join(PYTHON, "_async", name)));
  }
  return files;
}

/** The sources in a folder of the Python package. */
export async function pythonFiles(folder: string): Promise<string[]> {
  const names = await readdir(join(SDK, PYTHON, folder));
  return names.filter((name) => name.endsWith(".py")).toSorted();
}

/** `path`: in sdk/. */
export function readGenerated(path: string): Promise<string> {
  return readFile(join(SDK, path), "utf8");
}

if (import.meta.main) {
  for (const [path, source] of Object.entries(await currentFiles())) await writeFile(join(SDK, path), source);
}
