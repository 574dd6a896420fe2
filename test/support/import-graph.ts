import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

export interface Import {
  /** Specifier of the import. Null for a dynamic import whose specifier is computed. */
  readonly to: string | null;
  readonly isTypeOnly: boolean;
}
/** Sources by path relative to the root, with forward slashes. */
export type Tree = ReadonlyMap<string, string>;

/** Finds statements at the start of a line, as the formatter writes them, and dynamic imports outside comments. */
export function importsOf(source: string): Import[] {
  const code = source.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const found: Import[] = [];
  for (const [, type, clause, to] of code.matchAll(
    /^(?:import|export)\b(\s+type\b)?(?:([\w\s{},*$]*?)\bfrom)?\s*["']([^"']+)["']/gm,
  )) {
    const names = /^\s*\{([^}]*)\}\s*$/.exec(clause ?? "")?.[1]?.split(",") ?? [];
    const areTypes = names.length > 0 && names.every((name) => name.trim() === "" || /^\s*type\s/.test(name));
    found.push({ to: to ?? null, isTypeOnly: type !== undefined || areTypes });
  }
  for (const [, to] of code.matchAll(/\bimport\s*\(\s*(?:["'`]([^"'`$]+)["'`]\s*[,)])?/g)) {
    found.push({ to: to ?? null, isTypeOnly: false });
  }
  for (const [, to] of code.matchAll(/\b(?:require|getBuiltinModule)\s*\(\s*["']([^"']+)["']/g)) {
    found.push({ to: to ?? null, isTypeOnly: false });
  }
  return found;
}

export const isRelative = (to: string): boolean => to.startsWith(".");
export const resolve = (from: string, to: string): string => posix.join(posix.dirname(from), to);
/** Reads all sources below these folders of a root. */
export function readTree(root: string, folders: readonly string[]): Tree {
  const tree = new Map<string, string>();
  for (const folder of folders) {
    for (const path of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!/\.[cm]?[jt]s$/.test(path) || /(^|[\\/])(node_modules|dist)[\\/]/.test(path)) continue;
      const name = posix.join(folder, path.replaceAll("\\", "/"));
      tree.set(name, readFileSync(join(root, name), "utf8"));
    }
  }
  return tree;
}
