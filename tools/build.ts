import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * Builds `dist/` and the console in `web/dist/`, which the published package runs. Run it with `npm run build` and the
 * pinned version of Node.js. Its arguments are passed to the compiler.
 */
const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

/**
 * Files to copy: the package.json files that mark parts of `bin/` as CommonJS (the package.json of the root marks all
 * code as modules), and files that code reads from its own folder.
 */
const COPIED_FILES = [
  "bin/package.json",
  "bin/main/package.json",
  "coordinator/http/openapi/examples.json",
  "island-agent/doctor/matrix.onnx",
];

// Files of an earlier build must not be published.
rmSync(dist, { recursive: true, force: true });
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
const args = [compiler, "-p", join(root, "tsconfig.build.json"), ...process.argv.slice(2)];
const compiled = spawnSync(process.execPath, args, { stdio: "inherit" });
const built = spawnSync(process.execPath, [join(root, "web", "build.ts")], { stdio: "inherit" });
if (compiled.status === 0 && built.status === 0) {
  for (const file of COPIED_FILES) cpSync(join(root, file), join(dist, file));
} else process.exitCode = 1;
