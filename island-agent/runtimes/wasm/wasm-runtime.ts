import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { isJsonValue } from "../../../shared/json-value.ts";
import { hostEntry } from "../host/host-process.ts";
import { type HostedRuntime, hostedRuntime, type HostingOptions } from "../host/hosted-runtime.ts";
import type { MemoryUse, RunRequest } from "../runtime.ts";
import { packagesFolder } from "../sandbox/readable-paths.ts";
import type { LoadRequest, WasmJob } from "./host-requests.ts";

/** Share of the process in a Cargo's memory requirement. Source: catalog/README.md, memory requirements. */
const PROCESS_ALLOWANCE_BYTES = 192 * MIB;
const MIN_CAP_BYTES = MIB;
/**
 * Memory of the process. Measured on Linux x64, Node 24, after 40 jobs, two at a time: 174 MB with three threads; 3.5
 * bytes of compiled code for each byte of a module.
 */
const PROCESS_BYTES = 112 * MIB;
const THREAD_BYTES = 24 * MIB;
const CODE_PER_BYTE = 4;
/** Folders of our code and the packages it imports. The process may read only these and the module. */
const CODE_FOLDERS = [fileURLToPath(new URL("../../../", import.meta.url)), packagesFolder()];

export interface WasmOptions extends HostingOptions {
  /** Jobs of one Cargo that may run at the same time if their memory is small, at least 1. */
  readonly threads: number;
}

/** Runs WASI preview 1 commands: a host process under Node's permission model for each Cargo, a thread for each job. */
export function wasmRuntime(options: WasmOptions): HostedRuntime {
  const { threads } = options;
  return hostedRuntime<null, LoadRequest, WasmJob>(
    {
      type: "wasm",
      program: {
        name: "WebAssembly",
        entry: hostEntry("wasm-host", import.meta.url),
        isNative: false,
        execArgv: permissionFlags,
      },
      probeRequest: null,
      loadRequest: (cargo, modelPath) => {
        return { modulePath: modelPath, memoryCapBytes: memoryCapOf(cargo), args: cargo.args ?? [] };
      },
      estimate: (request) => estimateModule(request, concurrencyOf(request, threads)),
      concurrency: (request) => concurrencyOf(request, threads),
      readInput,
    },
    options,
  );
}

/** Returns how many jobs fit the Cargo's memory requirement together with the code of a small module. */
function concurrencyOf({ memoryCapBytes }: LoadRequest, threads: number): number {
  const availableBytes = PROCESS_ALLOWANCE_BYTES + memoryCapBytes - PROCESS_BYTES - THREAD_BYTES;
  return Math.max(1, Math.min(threads, Math.floor(availableBytes / (memoryCapBytes + THREAD_BYTES))));
}

/**
 * Estimates the process with the module's compiled code, plus a thread and the module's memory cap for each concurrent
 * job.
 * @throws {JobFailure}
 */
async function estimateModule({ modulePath, memoryCapBytes }: LoadRequest, jobs: number): Promise<MemoryUse> {
  const codeBytes = CODE_PER_BYTE * (await sizeOf(modulePath));
  // One more thread than jobs, because a spare one is always ready.
  const ramBytes = PROCESS_BYTES + codeBytes + THREAD_BYTES * (jobs + 1) + memoryCapBytes * jobs;
  return { ramBytes, vramBytes: 0 };
}

/**
 * Returns the flags of Node's permission model for a host. The host may only read our code, its packages and one
 * module, and start threads.
 */
export function permissionFlags(modelPath: string | null): string[] {
  const readable = [...CODE_FOLDERS, ...(modelPath === null ? [] : [modelPath])];
  return ["--permission", "--allow-worker", ...readable.map((path) => `--allow-fs-read=${path}`)];
}

/** @throws {JobFailure} */
async function sizeOf(path: string): Promise<number> {
  const { size } = await stat(path).catch((cause: unknown) => {
    throw new JobFailure("model_unavailable", "The module's file cannot be read", { retryable: true, cause });
  });
  return size;
}

/** Maximum input length. JSON encoding at most doubles it, which stays below the host's message limit. */
const MAX_INPUT_CHARS = 16 * MIB;

/** Returns the input as one line of JSON. @throws {JobFailure} `invalid_input` */
function readInput(input: RunRequest["input"]): WasmJob {
  if (!isJsonValue(input))
    throw new JobFailure("invalid_input", "The input is not JSON, or is nested more than 100 levels deep");
  const line = JSON.stringify(input);
  if (line.length > MAX_INPUT_CHARS)
    throw new JobFailure(
      "invalid_input",
      `The input has ${line.length} characters as JSON, but at most ${MAX_INPUT_CHARS} are allowed`,
    );
  return line;
}

/** Returns the memory cap of a job's module: the Cargo's requirement less the process's share. */
function memoryCapOf({ requiredRamBytes }: CargoManifest): number {
  return Math.max(MIN_CAP_BYTES, requiredRamBytes - PROCESS_ALLOWANCE_BYTES);
}
