import { readFile } from "node:fs/promises";
import { JobFailure } from "../../../shared/errors.ts";
import type { HostedModel } from "../host/serve-host.ts";
import { clampMemory, WASM_PAGE_BYTES } from "./clamp-memory.ts";
import { runGuest, startGuestThread } from "./guest-run.ts";
import type { LoadOrder, WasmJob } from "./host-orders.ts";

/** The program's name, as it sees it. */
const PROGRAM_NAME = "cargo";

/** Compiles a module, once for all its jobs; each runs in a new instance, in a thread of its own. @throws {JobFailure} */
export async function loadModule({ modulePath, memoryCapBytes, args }: LoadOrder): Promise<HostedModel<WasmJob>> {
  const bytes = await readFile(modulePath).catch((cause: unknown) => {
    throw new JobFailure("model_unavailable", "The module's file cannot be read", { retryable: true, cause });
  });
  const clamped = clampMemory(bytes, Math.floor(memoryCapBytes / WASM_PAGE_BYTES));
  const module = await WebAssembly.compile(clamped).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JobFailure("model_invalid", `The module cannot be compiled: ${why}`);
  });
  const program = [PROGRAM_NAME, ...args];
  // A thread takes longer to start than most jobs to run: one is always ready.
  let spare = startGuestThread();
  return {
    facts: { moduleBytes: bytes.length, memoryCapBytes },
    gpuMemory: null,
    run({ job }, onOutput, signal) {
      const thread = spare;
      spare = startGuestThread();
      const stdin = new TextEncoder().encode(`${job}\n`);
      return runGuest(thread, { module, args: program, stdin }, memoryCapBytes, onOutput, signal);
    },
    dispose: async () => void (await spare.terminate()),
  };
}
