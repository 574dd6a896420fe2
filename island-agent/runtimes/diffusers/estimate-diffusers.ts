import { MIB } from "../../../shared/format-bytes.ts";
import type { MemoryUse } from "../runtime.ts";
import { type ExecutionProvider, providersFor } from "../onnx/execution-providers.ts";
import type { LoadRequest } from "./host-requests.ts";
import { findPipeline } from "./pipeline-files.ts";

const PROCESS_BYTES = 192 * MIB;
/** Copies of the weights in memory: ONNX Runtime keeps the file's weights and a copy laid out for the processor. */
const WEIGHT_COPIES = 2;
/** Memory of a step and of the decoder in addition to the weights: the shipped Cargos' `memory.working_mb`. */
const WORKING_BYTES = 2_048 * MIB;
const XL_WORKING_BYTES = 6_144 * MIB;
/** Limit for small pipelines, since the values above are for weights of a gigabyte and more. */
const MAX_WORKING_PER_WEIGHT = 2;
/** RAM in addition to weights that are stored on a GPU. */
const HOST_BYTES = 1_536 * MIB;

/**
 * Estimates the memory of a load from the file sizes and the provider. The estimate is rather too high than too low.
 * @throws {JobFailure}
 */
export async function estimateDiffusers({ modelPath, weights, device }: LoadRequest): Promise<MemoryUse> {
  const { bytes, textEncoders } = await findPipeline(modelPath, weights);
  const [provider = "cpu"] = await providersFor(device);
  return memoryFor(provider, bytes, textEncoders.length > 1);
}

/** @param bytes size of the weights */
export function memoryFor(provider: ExecutionProvider, bytes: number, isXl: boolean): MemoryUse {
  const working = Math.min(
    isXl ? XL_WORKING_BYTES : WORKING_BYTES,
    Math.max(256 * MIB, MAX_WORKING_PER_WEIGHT * bytes),
  );
  switch (provider) {
    case "cpu":
    case "coreml":
      // Core ML shares one memory with the CPU.
      return { ramBytes: PROCESS_BYTES + WEIGHT_COPIES * bytes + working, vramBytes: 0 };
    case "cuda":
    case "dml":
    case "webgpu":
      return { ramBytes: Math.min(HOST_BYTES, PROCESS_BYTES + bytes) + bytes, vramBytes: bytes + working };
    default:
      return provider satisfies never;
  }
}
