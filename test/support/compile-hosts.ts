import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const RUNTIMES = join(import.meta.dirname, "..", "..", "island-agent", "runtimes");
/** What the host processes of native runtimes load. */
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
 * Vitest's global setup: fills the cache of compiled code for the host processes, of which tests start more than a hundred. They
 * cannot write it themselves, in their sandbox and because they end by a signal.
 */
export default async function compileHosts(): Promise<void> {
  // Of the lanes that need it, the first one does it.
  if (process.env[DONE] !== undefined) return;
  process.env[DONE] = "yes";
  const imports = MODULES.map((name) => `await import(${JSON.stringify(join(RUNTIMES, name))});`);
  const script = `${imports.join("")} process.exit();`;
  // Where a runtime is not installed, its tests say so; without the cache they only take longer.
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]).catch(() => undefined);
}
