import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of package.json: two levels above the sources, three above the files of `npm run build`. */
export const packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(directory: string): string {
  if (existsSync(join(directory, "catalog"))) return directory;
  const parent = dirname(directory);
  if (parent === directory)
    throw new Error(
      "The installation is incomplete: the folder catalog is missing next to package.json. Install Atoll again",
    );
  return findRoot(parent);
}

/** Version of the product, from package.json. */
export async function readVersion(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(packageRoot, "package.json"), "utf8")) as { version: string };
  return manifest.version;
}
