import { stat } from "node:fs/promises";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { isJsonValue } from "../../../shared/json-value.ts";
import { hostEnvironment } from "../host/host-environment.ts";
import { hostEntry, type HostProgram } from "../host/host-process.ts";
import type { HostedCargo } from "../host/hosted-cargo.ts";
import { loadHosted } from "../host/load-hosted.ts";
import { HOSTING_DEFAULTS, type HostingOptions } from "../host/hosting-options.ts";
import { probeInHost } from "../host/start-host.ts";
import type { CargoRuntime, MemoryUse, ProbeResult, RunRequest } from "../runtime.ts";
import type { LoadOrder, WasmJob } from "./host-requests.ts";

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
  /** Jobs of one Cargo that may run at once, where their memory is small. */
  readonly threads: number;
}

/** WASI preview 1 commands: one child process for each loaded Cargo, under Node's permission model, one thread for each job. */
export class WasmRuntime implements CargoRuntime {
  readonly type = "wasm";
  readonly #options: Required<WasmOptions>;

  constructor(options: WasmOptions) {
    this.#options = {
      ...HOSTING_DEFAULTS,
      ...options,
    };
  }

  probe(signal: AbortSignal): Promise<ProbeResult> {
    return probeInHost(this.#program(null), this.#options.clock, null, signal);
  }

  /** The process with the module's code, and for each job that may run at once its thread and all that the module may take. */
  async estimate(cargo: CargoManifest, modelPath: string | null): Promise<MemoryUse> {
    const moduleBytes = modelPath === null ? 0 : await sizeOf(modelPath);
    const capBytes = memoryCapOf(cargo);
    const jobs = this.#concurrencyFor(capBytes);
    // One thread more than jobs is always ready.
    const ramBytes = PROCESS_BYTES + CODE_PER_BYTE * moduleBytes + THREAD_BYTES * (jobs + 1) + capBytes * jobs;
    return { ramBytes, vramBytes: 0 };
  }

  async load(
    cargo: CargoManifest,
    modelPath: string | null,
    signal: AbortSignal,
    ramCeilingBytes?: number,
  ): Promise<HostedCargo<WasmJob>> {
    if (modelPath === null) throw new JobFailure("model_invalid", `Cargo ${cargo.slug} names no module`);
    const memoryCapBytes = memoryCapOf(cargo);
    const load: LoadOrder = { modulePath: modelPath, memoryCapBytes, args: cargo.args ?? [] };
    const spec = { slug: cargo.slug, modelPath, load, ramCeilingBytes };
    const traits = { concurrency: this.#concurrencyFor(memoryCapBytes), readInput };
    return loadHosted(this.#program(modelPath), this.#options, spec, traits, signal);
  }

  /** As many jobs at once as the Cargo's memory figure holds, the code of a small module included. */
  #concurrencyFor(capBytes: number): number {
    const roomBytes = PROCESS_ALLOWANCE_BYTES + capBytes - PROCESS_BYTES - THREAD_BYTES;
    return Math.max(1, Math.min(this.#options.threads, Math.floor(roomBytes / (capBytes + THREAD_BYTES))));
  }

  #program(modelPath: string | null): HostProgram {
    return {
      name: "WebAssembly",
      entry: hostEntry("wasm-host", import.meta.url),
      environment: hostEnvironment(this.#options.environment, {}, "plain"),
      execArgv: hostFlags(modelPath),
    };
  }
}

/** Node's permission model for a host: our code, its packages and one module can be read; threads can be started, and that is all. */
export function hostFlags(modelPath: string | null): string[] {
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
