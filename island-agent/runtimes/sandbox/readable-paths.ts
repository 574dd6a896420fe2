import { readdirSync, realpathSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of `shared`, `island-agent` and package.json: the repository, or `dist` in the package. */
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** In the package, package.json is above `dist`. Node reads there that our files are modules. */
const OUR_FILES = ["island-agent", "shared", "package.json", join("..", "package.json")];
/** Folders where our imports are resolved, even if they are links. */
const PACKAGES = ["node_modules", join("..", "node_modules")];

/** A path, and the real path of its content. */
export interface ReadablePath {
  readonly path: string;
  readonly source: string;
}

/** Returns the paths of our code and of the packages that it imports. */
export function codePaths(): ReadablePath[] {
  const ours = [...OUR_FILES, ...PACKAGES].map((name) => join(ROOT, name));
  return readablePaths([...new Set([...ours, packagesFolder()])]);
}

/** Returns the paths that exist, each with the real path of its content. */
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

/** Returns the targets of symbolic links in a model's folder, which the store uses without hard links. */
export function linkTargets(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isSymbolicLink())
      .map((entry) => realpathSync(join(entry.parentPath, entry.name)));
  } catch {
    // The path is a file or missing. The host reports what it cannot read.
    return [];
  }
}

/** Returns the `node_modules` folder of our packages. Our own package may be installed inside it. */
export function packagesFolder(): string {
  const file = fileURLToPath(import.meta.resolve("zod"));
  return file.slice(0, file.lastIndexOf(`${sep}zod${sep}`));
}
