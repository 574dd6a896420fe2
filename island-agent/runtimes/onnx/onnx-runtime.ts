import type { CargoManifest } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { ONNX_TASKS, type OnnxTask } from "../../../shared/onnx-task.ts";
import { hostEntry } from "../host/host-process.ts";
import { type HostedRuntime, hostedRuntime, type HostingOptions } from "../host/hosted-runtime.ts";
import { batchingOf } from "./batching.ts";
import type { DeviceChoice } from "./execution-providers.ts";
import type { LoadRequest } from "./host-requests.ts";
import { type OnnxJob, readOnnxInput } from "./onnx-input.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { MemoryUse } from "../runtime.ts";
import { findWeights } from "./weight-files.ts";

/** Copies of the weights in memory: ONNX Runtime keeps the file's weights and a copy laid out for the processor. */
const WEIGHT_COPIES = 2;
const PROCESS_BYTES = 192 * MIB;
/** Memory of a run in addition to the weights: for each task, the largest `memory.working_mb` of the shipped Cargos. */
const WORKING_BYTES: Readonly<Record<OnnxTask, number>> = {
  "text-classification": 128 * MIB,
  "feature-extraction": 256 * MIB,
  "token-classification": 128 * MIB,
  "question-answering": 128 * MIB,
  summarization: 384 * MIB,
  translation: 256 * MIB,
  "automatic-speech-recognition": 768 * MIB,
  "text-to-speech": 384 * MIB,
  "object-detection": 768 * MIB,
  "image-segmentation": 1_024 * MIB,
  "image-to-text": 512 * MIB,
  "depth-estimation": 768 * MIB,
  "zero-shot-classification": 192 * MIB,
  "fill-mask": 128 * MIB,
};
const TENSORS_WORKING_BYTES = 512 * MIB;

/** libuv threads of a host. They read files and decode images, and a host has one run at a time. */
const POOL_THREADS = 2;

export interface OnnxOptions extends HostingOptions {
  /** CPU threads of one model, at least 1. */
  readonly threads: number;
  /** Default `cpu`: onnx Cargos request no VRAM, so GPU memory would be used without being counted. */
  readonly device?: DeviceChoice;
}

/** Runs ONNX models with ONNX Runtime: a transformers.js pipeline if the Cargo names a task, raw tensors otherwise. */
export function onnxRuntime(options: OnnxOptions): HostedRuntime {
  const { threads, device = "cpu" } = options;
  return hostedRuntime<null, LoadRequest, OnnxJob>(
    {
      type: "onnx",
      program: {
        name: "ONNX Runtime",
        entry: hostEntry("onnx-host", import.meta.url),
        environment: { UV_THREADPOOL_SIZE: String(POOL_THREADS) },
      },
      probeRequest: null,
      loadRequest: (cargo, modelPath) => {
        return { modelPath, task: taskOf(cargo), weights: cargo.weights ?? null, device, threads };
      },
      estimate: estimateOnnx,
      // ONNX Runtime occupies the process's only JavaScript thread during its computation.
      concurrency: () => 1,
      batching: ({ task }) => batchingOf(task),
      readInput: (input, { task }) => readOnnxInput(task, input),
    },
    options,
  );
}

/** @throws {JobFailure} `runtime_unavailable` for a task that only newer agents know. */
function taskOf({ onnxTaskType: name }: CargoManifest): OnnxTask | null {
  if (name === null) return null;
  const task = ONNX_TASKS.find((each) => each === name);
  if (task !== undefined) return task;
  throw new JobFailure("runtime_unavailable", `This Island does not support the task ${name}`, { retryable: true });
}

/**
 * Estimates the memory of a load from the file sizes. The estimate is rather too high than too low. @throws
 * {JobFailure}
 */
async function estimateOnnx({ modelPath, task, weights, device }: LoadRequest): Promise<MemoryUse> {
  const { bytes } = await findWeights(modelPath, weights);
  const working = task === null ? TENSORS_WORKING_BYTES : WORKING_BYTES[task];
  const ramBytes = PROCESS_BYTES + WEIGHT_COPIES * bytes + working;
  // On a provider with its own memory, everything is counted there too, because the part of the graph that runs there
  // is not known in advance.
  return { ramBytes, vramBytes: device === "cpu" || device === "coreml" ? 0 : bytes + working };
}
