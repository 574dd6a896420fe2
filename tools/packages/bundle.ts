import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";

/** Matches files that are not used at run time: source maps, types and files for a compiler. */
const FOR_DEVELOPERS = /\.(?:map|d\.[cm]?ts|gyp)$/;
/**
 * The unused files of single packages. For onnxruntime-node these are a second copy of the library for macOS (its
 * binding loads `libonnxruntime.1.dylib`), and the files for Windows on ARM, where only llama.cpp runs.
 */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  "better-sqlite3": ["deps", "src"],
  "onnxruntime-node": ["script", "bin/napi-v6/win32/arm64", "bin/napi-v6/darwin/arm64/libonnxruntime.1.30.0.dylib"],
};

/** Members of a package.json that make npm run scripts, compile or install dependencies. */
const FOR_INSTALLERS = [
  "scripts",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
  "peerDependenciesMeta",
];

/**
 * Copies an installed package into one of the published packages, where npm does not change it. Removes its install
 * script, which may download or compile, and dependencies for which `isLeftOut` is true.
 * @param path path such as `node_modules/a/node_modules/b`, which is the same below `from` and `to`.
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
  // Otherwise npm would compile a package that contains a file for node-gyp.
  manifest["gypfile"] = false;
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

const isTool = (path: string): boolean => path === ".github" || path === ".bin";
