import type { CargoManifest } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { hostEnvironment } from "../host/host-environment.ts";
import { hostEntry, type HostProgram } from "../host/host-process.ts";
import type { HostedCargo } from "../host/hosted-cargo.ts";
import { loadHosted } from "../host/load-hosted.ts";
import { HOSTING_DEFAULTS, type HostingOptions } from "../host/hosting-options.ts";
import { estimateInHost, probeInHost } from "../host/start-host.ts";
import type { DeviceChoice } from "../onnx/execution-providers.ts";
import type { CargoRuntime, MemoryUse, ProbeResult } from "../runtime.ts";
import type { LoadOrder, ProbeOrder } from "./host-requests.ts";
import { type PictureJob, readPictureInput } from "./picture-input.ts";

/** libuv threads of a host: they read files and write PNGs, and a host has one run at a time. */
const POOL_THREADS = 2;

export interface DiffusersOptions extends HostingOptions {
  /** CPU threads of one model, at least 1. */
  readonly threads: number;
  /** `auto` by default: the fastest that works here. */
  readonly device?: DeviceChoice;
}

/** Pictures by pipelines in the ONNX layout of diffusers' exporters: one child process for each loaded pipeline. */
export class DiffusersRuntime implements CargoRuntime {
  readonly type = "diffusers";
  readonly #options: Required<DiffusersOptions>;
  readonly #program: HostProgram;

  constructor(options: DiffusersOptions) {
    this.#options = {
      ...HOSTING_DEFAULTS,
      device: "auto",
      ...options,
    };
    this.#program = {
      name: "ONNX Runtime",
      entry: hostEntry("diffusers-host", import.meta.url),
      environment: hostEnvironment(this.#options.environment, { UV_THREADPOOL_SIZE: String(POOL_THREADS) }),
    };
  }

  probe(signal: AbortSignal): Promise<ProbeResult> {
    const order: ProbeOrder = { device: this.#options.device };
    return probeInHost(this.#program, this.#options.clock, order, signal);
  }

  /** From the sizes of the files, in a process of its own: what they will run on is for native code to say. */
  async estimate(cargo: CargoManifest, modelPath: string | null, signal: AbortSignal): Promise<MemoryUse> {
    return estimateInHost(this.#program, this.#options, this.#orderFor(cargo, modelPath), signal);
  }

  async load(
    cargo: CargoManifest,
    modelPath: string | null,
    signal: AbortSignal,
    ramCeilingBytes?: number,
  ): Promise<HostedCargo<PictureJob>> {
    const load = this.#orderFor(cargo, modelPath);
    const spec = { slug: cargo.slug, modelPath: load.modelPath, load, ramCeilingBytes };
    // ONNX Runtime holds the process' only thread while it computes.
    const traits = { concurrency: 1, readInput: readPictureInput };
    return loadHosted(this.#program, this.#options, spec, traits, signal);
  }

  /** @throws {JobFailure} */
  #orderFor(cargo: CargoManifest, modelPath: string | null): LoadOrder {
    if (modelPath === null) throw new JobFailure("model_invalid", `Cargo ${cargo.slug} names no model`);
    const { threads, device } = this.#options;
    return { modelPath, weights: cargo.weights ?? null, device, threads };
  }
}
