import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Builds `dist/`, from which the published programs run. `npm run build` starts it with the pinned Node. */
const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

/**
 * Which files of `bin/` are CommonJS and which are modules, as the root's package.json says modules for all; and what code reads
 * beside itself.
 */
const BESIDE_THE_CODE = ["bin/package.json", "bin/main/package.json", "island-agent/doctor/matrix.onnx"];

// Nothing of an earlier build may be published.
rmSync(dist, { recursive: true, force: true });
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
const compiled = spawnSync(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], { stdio: "inherit" });
if (compiled.status === 0) for (const file of BESIDE_THE_CODE) cpSync(join(root, file), join(dist, file));
else process.exitCode = 1;
