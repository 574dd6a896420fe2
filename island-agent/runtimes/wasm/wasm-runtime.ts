import { stat } from "node:fs/promises";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { isJsonValue } from "../../../shared/json-value.ts";
import { hostEntry } from "../host/host-process.ts";
import { type HostedRuntime, hostedRuntime, type HostingOptions } from "../host/hosted-runtime.ts";
import type { MemoryUse, RunRequest } from "../runtime.ts";
import type { LoadRequest, WasmJob } from "./host-requests.ts";

const MIB = 1_048_576;
/** What a Cargo's memory figure leaves to the process, beside the module's own. Source: catalog/README.md, memory figures. */
const PROCESS_ALLOWANCE_BYTES = 192 * MIB;
/** Least that a module may have. */
const LEAST_CAP_BYTES = MIB;
/** Measured on Linux x64, Node 24, after 40 jobs, two at a time: 174 MB with three threads; 3.5 bytes of code for one of a module. */
const PROCESS_BYTES = 112 * MIB;
const THREAD_BYTES = 24 * MIB;
const CODE_PER_BYTE = 4;
/** Our code, and the packages that it imports wherever they are installed: all that the process may read beside the module. */
const CODE_FOLDERS = [fileURLToPath(new URL("../../../", import.meta.url)), packagesFolder()];

export interface WasmOptions extends HostingOptions {
  /** Jobs of one Cargo that may run at once where their memory is small, at least 1. */
  readonly threads: number;
}

/** WASI preview 1 commands: a host process under Node's permission model for each Cargo, a thread for each job. */
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

/** As many jobs at once as fit the Cargo's memory figure together with the code of a small module. */
function concurrencyOf({ memoryCapBytes }: LoadRequest, threads: number): number {
  const availableBytes = PROCESS_ALLOWANCE_BYTES + memoryCapBytes - PROCESS_BYTES - THREAD_BYTES;
  return Math.max(1, Math.min(threads, Math.floor(availableBytes / (memoryCapBytes + THREAD_BYTES))));
}

/** The process with the module's compiled code, and for each concurrent job a thread and the module's memory cap. @throws {JobFailure} */
async function estimateModule({ modulePath, memoryCapBytes }: LoadRequest, jobs: number): Promise<MemoryUse> {
  const codeBytes = CODE_PER_BYTE * (await sizeOf(modulePath));
  // One more thread than jobs: a spare one is always ready.
  const ramBytes = PROCESS_BYTES + codeBytes + THREAD_BYTES * (jobs + 1) + memoryCapBytes * jobs;
  return { ramBytes, vramBytes: 0 };
}

/** Node's permission model for a host: our code, its packages and one module can be read; threads can be started, and that is all. */
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

/** The input as the module reads it. @throws {JobFailure} `invalid_input` */
function readInput(input: RunRequest["input"]): WasmJob {
  if (!isJsonValue(input)) throw new JobFailure("invalid_input", "The input is not JSON of at most 100 levels");
  return JSON.stringify(input);
}

/** Most that a job's module may take: the Cargo's figure less what it leaves to the process. */
function memoryCapOf({ requiredRamBytes }: CargoManifest): number {
  return Math.max(LEAST_CAP_BYTES, requiredRamBytes - PROCESS_ALLOWANCE_BYTES);
}

/** The `node_modules` that holds our packages; ours may be installed beside them. */
function packagesFolder(): string {
  const file = fileURLToPath(import.meta.resolve("zod"));
  return file.slice(0, file.lastIndexOf(`${sep}zod${sep}`));
}
