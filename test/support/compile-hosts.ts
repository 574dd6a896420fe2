import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const RUNTIMES = join(import.meta.dirname, "..", "..", "island-agent", "runtimes");
/** Modules that the host processes of native runtimes load. */
const MODULES = [
  "host/serve-host.ts",
  "llmcpp/probe-llama.ts",
  "llmcpp/estimate-model.ts",
  "llmcpp/load-model.ts",
  "onnx/probe-onnx.ts",
  "onnx/tensor-model.ts",
  "onnx/task-model.ts",
  "diffusers/probe-diffusers.ts",
  "diffusers/estimate-diffusers.ts",
  "diffusers/load-pipeline.ts",
];

const DONE = "ATOLL_TEST_HOSTS_COMPILED";

/**
 * Vitest's global setup. It fills the cache of compiled code for the host processes. Tests start more than a hundred of
 * these processes, which cannot write the cache, because they run in a sandbox and end by a signal.
 */
export default async function compileHosts(): Promise<void> {
  // The first lane that needs it fills the cache.
  if (process.env[DONE] !== undefined) return;
  process.env[DONE] = "yes";
  const imports = MODULES.map((name) => `await import(${JSON.stringify(join(RUNTIMES, name))});`);
  const script = `${imports.join("")} process.exit();`;
  // Ignores failures, because tests report a missing runtime themselves and the cache only saves time.
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]).catch(() => undefined);
}
