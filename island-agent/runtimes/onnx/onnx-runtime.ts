import type { CargoManifest } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { ONNX_TASKS, type OnnxTask } from "../../../shared/onnx-task.ts";
import { hostEnvironment } from "../host/host-environment.ts";
import { hostEntry, type HostProgram } from "../host/host-process.ts";
import type { HostedCargo } from "../host/hosted-cargo.ts";
import { loadHosted } from "../host/load-hosted.ts";
import { HOSTING_DEFAULTS, type HostingOptions } from "../host/hosting-options.ts";
import { probeInHost } from "../host/start-host.ts";
import type { CargoRuntime, MemoryUse, ProbeResult, RunRequest } from "../runtime.ts";
import { estimateOnnx } from "./estimate-onnx.ts";
import type { DeviceChoice } from "./execution-providers.ts";
import type { LoadOrder } from "./host-requests.ts";
import { type OnnxJob, readOnnxInput } from "./onnx-input.ts";

/** libuv threads of a host: they read files and decode pictures, and a host has one run at a time. */
const POOL_THREADS = 2;

export interface OnnxOptions extends HostingOptions {
  /** CPU threads of one model, at least 1. */
  readonly threads: number;
  /** `cpu` by default: onnx Cargos ask for no VRAM, so that nobody counts what they would take of it. */
  readonly device?: DeviceChoice;
}

/** ONNX models by ONNX Runtime, with transformers.js around it where a task is named: one child process for each loaded model. */
export class OnnxRuntime implements CargoRuntime {
  readonly type = "onnx";
  readonly #options: Required<OnnxOptions>;
  readonly #program: HostProgram;

  constructor(options: OnnxOptions) {
    this.#options = {
      ...HOSTING_DEFAULTS,
      device: "cpu",
      ...options,
    };
    this.#program = {
      name: "ONNX Runtime",
      entry: hostEntry("onnx-host", import.meta.url),
      environment: hostEnvironment(this.#options.environment, { UV_THREADPOOL_SIZE: String(POOL_THREADS) }),
    };
  }

  probe(signal: AbortSignal): Promise<ProbeResult> {
    return probeInHost(this.#program, this.#options.clock, null, signal);
  }

  /** From the sizes of the files. */
  async estimate(cargo: CargoManifest, modelPath: string | null, signal: AbortSignal): Promise<MemoryUse> {
    signal.throwIfAborted();
    return estimateOnnx(this.#orderFor(cargo, modelPath));
  }

  async load(
    cargo: CargoManifest,
    modelPath: string | null,
    signal: AbortSignal,
    ramCeilingBytes?: number,
  ): Promise<HostedCargo<OnnxJob>> {
    const load = this.#orderFor(cargo, modelPath);
    const spec = { slug: cargo.slug, modelPath: load.modelPath, load, ramCeilingBytes };
    const readInput = (input: RunRequest["input"]): OnnxJob => readOnnxInput(load.task, input);
    // ONNX Runtime holds the process' only thread while it computes.
    return loadHosted(this.#program, this.#options, spec, { concurrency: 1, readInput }, signal);
  }

  /** @throws {JobFailure} */
  #orderFor(cargo: CargoManifest, modelPath: string | null): LoadOrder {
    if (modelPath === null) throw new JobFailure("model_invalid", `Cargo ${cargo.slug} names no model`);
    const { threads, device } = this.#options;
    return { modelPath, task: taskOf(cargo), weights: cargo.weights ?? null, device, threads };
  }
}

/** @throws {JobFailure} `runtime_unavailable` for a task that only newer agents know. */
function taskOf({ onnxTaskType: name }: CargoManifest): OnnxTask | null {
  if (name === null) return null;
  const task = ONNX_TASKS.find((each) => each === name);
  if (task !== undefined) return task;
  throw new JobFailure("runtime_unavailable", `This Island does not know the task ${name}`, { retryable: true });
}
