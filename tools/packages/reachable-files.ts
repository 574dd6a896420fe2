import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** What a compiled file imports, loads or names as a module: everything in quotes that could be one. */
const QUOTED = /["'`](\.{1,2}\/[^"'`\s]+\.js)["'`]/g;

/**
 * The compiled files that a program can reach through relative imports, by their path from `folder`. A file that is started by a computed
 * name (a worker, the host of a runtime) is not found: folders of which that is true are packed whole.
 */
export function reachableFiles(folder: string, entry: string): string[] {
  const found = new Set<string>();
  const queue = [join(folder, entry)];
  for (const file of queue) {
    const name = relative(folder, file).replaceAll("\\", "/");
    if (found.has(name) || !existsSync(file)) continue;
    found.add(name);
    const source = readFileSync(file, "utf8");
    for (const [, to = ""] of source.matchAll(QUOTED)) queue.push(join(dirname(file), to));
  }
  return [...found].toSorted();
}

/** Those of `names` that one of the sources names as a package: `"name"` or `"name/…"`. */
export function namedPackages(sources: readonly string[], names: readonly string[]): string[] {
  return names.filter((name) => sources.some((source) => source.includes(`"${name}"`) || source.includes(`"${name}/`)));
}
