import { readFile, stat } from "node:fs/promises";
import { JobFailure } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { HostedModel } from "../host/serve-host.ts";
import { boundModule, WASM_PAGE_BYTES } from "./bound-module.ts";
import { runGuest } from "./guest-run.ts";
import type { LoadRequest, WasmJob } from "./host-requests.ts";
import { Worker } from "node:worker_threads";

/** JavaScript heap limits of a guest's thread, for objects outside the module's memory (exceptions, references). */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };

/** argv[0] of all programs. */
const PROGRAM_NAME = "cargo";
/**
 * Maximum module size. The largest interpreters take 30 MB. Compiled code takes several times the size of its module.
 */
const MAX_MODULE_BYTES = 64 * MIB;

/** Compiles a module once for all its jobs. Each job runs in a new instance in its own thread. @throws {JobFailure} */
export async function loadModule({ modulePath, memoryCapBytes, args }: LoadRequest): Promise<HostedModel<WasmJob>> {
  const bytes = await readModule(modulePath);
  const bounded = boundModule(bytes, Math.floor(memoryCapBytes / WASM_PAGE_BYTES));
  const module = await WebAssembly.compile(bounded).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JobFailure("model_invalid", `The module cannot be compiled: ${why}`);
  });
  const program = [PROGRAM_NAME, ...args];
  const spare = openSpareThread();
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
    if (size > MAX_MODULE_BYTES) {
      throw new JobFailure(
        "model_invalid",
        `The module has ${size} bytes, but at most ${MAX_MODULE_BYTES} are allowed`,
      );
    }
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof JobFailure) throw cause;
    throw new JobFailure("model_unavailable", "The module's file cannot be read", { retryable: true, cause });
  }
}

/** Keeps one guest thread started in advance, because the start takes longer than most jobs. */
function openSpareThread() {
  let spare = start();
  let isDead = false;
  watch(spare);

  /** Returns the ready thread and starts the next one. */
  function take(): Worker {
    const taken = isDead ? start() : spare;
    taken.removeAllListeners();
    isDead = false;
    spare = start();
    watch(spare);
    return taken;
  }

  async function end(): Promise<void> {
    await spare.terminate();
  }

  function watch(thread: Worker): void {
    const note = (): void => {
      if (thread === spare) isDead = true;
    };
    thread.once("error", note);
    thread.once("exit", note);
  }

  return { take, end };
}

/** Starts a thread without `execArgv`: a separate list would remove Node's permission model from the thread. */
function start(): Worker {
  const entry = new URL(`./guest-thread.${import.meta.url.slice(-2)}`, import.meta.url);
  return new Worker(entry, { env: {}, stdin: false, resourceLimits: HEAP_LIMITS });
}
