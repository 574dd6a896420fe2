import { hostEntry } from "../host/host-process.ts";
import { type HostedRuntime, hostedRuntime, type HostingOptions } from "../host/hosted-runtime.ts";
import type { DeviceChoice } from "../onnx/execution-providers.ts";
import type { LoadRequest, ProbeRequest } from "./host-requests.ts";
import { type ImageJob, readImageInput } from "./image-input.ts";

/** libuv threads of a host. They read files and write PNGs, and a host has one run at a time. */
const POOL_THREADS = 2;

export interface DiffusersOptions extends HostingOptions {
  /** CPU threads of one model, at least 1. */
  readonly threads: number;
  /** Default `auto`: the fastest provider that works here. */
  readonly device?: DeviceChoice;
}

/** Runs text-to-image pipelines in the ONNX layout of diffusers' exporters. */
export function diffusersRuntime(options: DiffusersOptions): HostedRuntime {
  const { threads, device = "auto" } = options;
  return hostedRuntime<ProbeRequest, LoadRequest, ImageJob>(
    {
      type: "diffusers",
      program: {
        name: "ONNX Runtime",
        entry: hostEntry("diffusers-host", import.meta.url),
        environment: { UV_THREADPOOL_SIZE: String(POOL_THREADS) },
      },
      probeRequest: { device },
      loadRequest: (cargo, modelPath) => ({ modelPath, weights: cargo.weights ?? null, device, threads }),
      // ONNX Runtime occupies the process's only JavaScript thread during its computation.
      concurrency: () => 1,
      readInput: readImageInput,
    },
    options,
  );
}
