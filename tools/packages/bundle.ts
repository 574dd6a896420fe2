import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";

/** What nothing reads at run time: source maps, types, and what a compiler would need. */
const FOR_DEVELOPERS = /\.(?:map|d\.[cm]?ts|gyp)$/;
/**
 * The same of single packages, and of onnxruntime-node what no Island loads: a second copy of the library for macOS (its binding names
 * `libonnxruntime.1.dylib`), and Windows on ARM, where llama.cpp runs alone.
 */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  "better-sqlite3": ["deps", "src"],
  "onnxruntime-node": ["script", "bin/napi-v6/win32/arm64", "bin/napi-v6/darwin/arm64/libonnxruntime.1.30.0.dylib"],
};

/** Of a package.json: what makes npm run, compile or look for something. */
const FOR_INSTALLERS = [
  "scripts",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
  "peerDependenciesMeta",
];

/**
 * Copies an installed package into ours, where npm leaves it as it is. Its install script, which may download or compile, is gone, and so
 * are its dependencies that `isLeftOut` names.
 * @param path as `node_modules/a/node_modules/b`, the same below `from` and `to`.
 */
export function bundlePackage(from: string, to: string, path: string, isLeftOut: (name: string) => boolean): void {
  const [source, target] = [join(from, path), join(to, path)];
  cpSync(source, target, {
    recursive: true,
    filter: (file) =>
      basename(file) !== "node_modules" && !FOR_DEVELOPERS.test(file) && !isTool(relative(source, file)),
  });
  for (const each of LEFT_OUT[basename(path)] ?? []) rmSync(join(target, each), { recursive: true });
  const file = join(target, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  for (const field of FOR_INSTALLERS) delete manifest[field];
  const dependencies = Object.entries((manifest["dependencies"] ?? {}) as Record<string, string>);
  manifest["dependencies"] = Object.fromEntries(dependencies.filter(([name]) => !isLeftOut(name)));
  // npm would compile a package that has a file for node-gyp.
  manifest["gypfile"] = false;
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

const isTool = (path: string): boolean => path === ".github" || path === ".bin";
