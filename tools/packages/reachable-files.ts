import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Matches possible imports of a compiled file: all quoted relative paths. */
const QUOTED = /["'`](\.{1,2}\/[^"'`\s]+\.js)["'`]/g;

/**
 * Returns the compiled files that a program reaches through relative imports, by their path from `folder`. Does not
 * find files that are started by a computed name, such as a worker or the host of a runtime. Folders with such files
 * are packed completely.
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

/** Returns the `names` that occur in a source as a package: `"name"` or `"name/…"`. */
export function namedPackages(sources: readonly string[], names: readonly string[]): string[] {
  return names.filter((name) => sources.some((source) => source.includes(`"${name}"`) || source.includes(`"${name}/`)));
}
