import { readdirSync, realpathSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** `shared`, `island-agent` and package.json are here: the repository, or `dist` in the package. */
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** In the package, its package.json is above `dist`; Node needs it to know that our files are modules. */
const OUR_FILES = ["island-agent", "shared", "package.json", join("..", "package.json")];
/** Where our imports look, also if the folder is a link. */
const PACKAGES = ["node_modules", join("..", "node_modules")];

/** A path, and where its content really is. */
export interface ReadablePath {
  readonly path: string;
  readonly source: string;
}

/** Our own code and the packages that it imports. */
export function codePaths(): ReadablePath[] {
  const ours = [...OUR_FILES, ...PACKAGES].map((name) => join(ROOT, name));
  return readablePaths([...new Set([...ours, packagesFolder()])]);
}

/** Those of the paths that exist. A folder brings the targets of the symbolic links in it. */
export function readablePaths(paths: readonly string[]): ReadablePath[] {
  return paths
    .filter((path) => path !== "")
    .flatMap((path) => {
      try {
        return [{ path: resolve(path), source: realpathSync(path) }];
      } catch {
        return [];
      }
    });
}

/** Where symbolic links in a model's folder point: the store uses them where it has no hard links. */
export function linkTargets(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isSymbolicLink())
      .map((entry) => realpathSync(join(entry.parentPath, entry.name)));
  } catch {
    // A file, or nothing: the host itself reports what it cannot read.
    return [];
  }
}

/** The `node_modules` folder of our packages. Our own package may be installed inside it, too. */
export function packagesFolder(): string {
  const file = fileURLToPath(import.meta.resolve("zod"));
  return file.slice(0, file.lastIndexOf(`${sep}zod${sep}`));
}
