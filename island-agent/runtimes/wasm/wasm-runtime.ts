import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { CargoManifest } from "../../../shared/cargo.ts";
import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { type Environment, hostEnvironment } from "../host/host-environment.ts";
import { hostEntry, type HostProgram } from "../host/host-process.ts";
import { HostedCargo } from "../host/hosted-cargo.ts";
import { type HostLog, loadInHost, probeInHost } from "../host/start-host.ts";
import type { CargoRuntime, MemoryUse, ProbeResult } from "../runtime.ts";
import type { LoadOrder, WasmJob } from "./host-orders.ts";

const MIB = 1_048_576;
/** What a Cargo's memory figure leaves to the process, beside the module's own. Source: catalog/README.md, memory figures. */
const PROCESS_ALLOWANCE_BYTES = 192 * MIB;
/** Least that a module may have. */
const LEAST_CAP_BYTES = MIB;
/** What small modules share of the allowance when several run at once; the process itself took 60 to 90 MB (Node 24, x64). */
const SHARED_BYTES = 96 * MIB;
/** Source: DESIGN §7. */
const DEFAULT_KILL_AFTER_MS = 2_000;
/** Our code, and the packages that it imports wherever they are installed: all that the process may read beside the module. */
const CODE_FOLDERS = [fileURLToPath(new URL("../../../", import.meta.url)), packagesFolder()];

export interface WasmOptions {
  /** Jobs of one Cargo that may run at once, where their memory is small. */
  readonly threads: number;
  readonly clock: Clock;
  readonly killAfterMs?: number;
  readonly environment?: Environment;
  readonly log?: HostLog;
}

/** WASI preview 1 commands: one child process for each loaded Cargo, under Node's permission model, one thread for each job. */
export class WasmRuntime implements CargoRuntime {
  readonly type = "wasm";
  readonly #options: Required<WasmOptions>;

  constructor(options: WasmOptions) {
    this.#options = { killAfterMs: DEFAULT_KILL_AFTER_MS, environment: {}, log: () => {}, ...options };
  }

  probe(signal: AbortSignal): Promise<ProbeResult> {
    return probeInHost(this.#program(null), this.#options.clock, null, signal);
  }

  /** The process and, for each job that may run at once, all that the module may take. */
  async estimate(cargo: CargoManifest): Promise<MemoryUse> {
    const capBytes = memoryCapOf(cargo);
    const jobsBytes = capBytes * this.#concurrencyFor(capBytes);
    return { ramBytes: Math.min(PROCESS_ALLOWANCE_BYTES + capBytes, SHARED_BYTES + jobsBytes), vramBytes: 0 };
  }

  async load(cargo: CargoManifest, modelPath: string | null, signal: AbortSignal): Promise<HostedCargo<WasmJob>> {
    if (modelPath === null) throw new JobFailure("model_invalid", `Cargo ${cargo.slug} names no module`);
    const { clock, killAfterMs, log } = this.#options;
    const memoryCapBytes = memoryCapOf(cargo);
    const load: LoadOrder = { modulePath: modelPath, memoryCapBytes, args: cargo.args ?? [] };
    const program = this.#program(modelPath);
    const { host, memory } = await loadInHost(program, clock, { slug: cargo.slug, load }, signal, log);
    const concurrency = this.#concurrencyFor(memoryCapBytes);
    return new HostedCargo(host, { memory, concurrency, clock, killAfterMs, readInput: JSON.stringify });
  }

  #concurrencyFor(capBytes: number): number {
    return Math.max(1, Math.min(this.#options.threads, Math.floor(SHARED_BYTES / capBytes)));
  }

  #program(modelPath: string | null): HostProgram {
    const readable = [...CODE_FOLDERS, ...(modelPath === null ? [] : [modelPath])];
    return {
      name: "WebAssembly",
      entry: hostEntry("wasm-host", import.meta.url),
      environment: hostEnvironment(this.#options.environment, {}),
      execArgv: ["--permission", "--allow-worker", ...readable.map((path) => `--allow-fs-read=${path}`)],
    };
  }
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
