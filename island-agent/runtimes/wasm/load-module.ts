import { readFile, stat } from "node:fs/promises";
import { JobFailure } from "../../../shared/errors.ts";
import type { HostedModel } from "../host/serve-host.ts";
import { boundModule, WASM_PAGE_BYTES } from "./bound-module.ts";
import { runGuest } from "./guest-run.ts";
import type { LoadRequest, WasmJob } from "./host-requests.ts";
import { SpareThread } from "./spare-thread.ts";

/** The program's name, as it sees it. */
const PROGRAM_NAME = "cargo";
/** Compiled code takes several times as much; the largest interpreters have 30 MB. */
export const MOST_MODULE_BYTES = 64 * 1_048_576;

/** Compiles a module, once for all its jobs; each runs in a new instance, in a thread of its own. @throws {JobFailure} */
export async function loadModule({ modulePath, memoryCapBytes, args }: LoadRequest): Promise<HostedModel<WasmJob>> {
  const bytes = await readModule(modulePath);
  const bounded = boundModule(bytes, Math.floor(memoryCapBytes / WASM_PAGE_BYTES));
  const module = await WebAssembly.compile(bounded).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JobFailure("model_invalid", `The module cannot be compiled: ${why}`);
  });
  const program = [PROGRAM_NAME, ...args];
  const spare = new SpareThread();
  return {
    facts: { moduleBytes: bytes.length, memoryCapBytes },
    gpuMemory: null,
    run({ job }, onOutput, signal) {
      const stdin = new TextEncoder().encode(`${job}\n`);
      return runGuest(spare.take(), { module, args: program, stdin }, memoryCapBytes, onOutput, signal);
    },
    dispose: () => spare.end(),
  };
}

async function readModule(path: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size > MOST_MODULE_BYTES) {
      throw new JobFailure("model_invalid", `The module has ${size} bytes; at most ${MOST_MODULE_BYTES} are taken`);
    }
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof JobFailure) throw cause;
    throw new JobFailure("model_unavailable", "The module's file cannot be read", { retryable: true, cause });
  }
}
