import type { MemoryUse } from "../runtime.ts";
import { type ExecutionProvider, providersFor } from "../onnx/execution-providers.ts";
import type { LoadRequest } from "./host-requests.ts";
import { findPipeline } from "./pipeline-files.ts";

const MB = 1_048_576;
const PROCESS_BYTES = 192 * MB;
/** ONNX Runtime keeps the file's weights and, beside them, those that it has laid out for the processor. */
const COPIES = 2;
/** What a step and the decoder take beside the weights: as the shipped Cargos' `memory.working_mb`. */
const WORKING_BYTES = 2_048 * MB;
const XL_WORKING_BYTES = 6_144 * MB;
/** Most that a small pipeline works with: what it takes grows with its weights, and those figures are of a gigabyte and more. */
const WORKING_PER_WEIGHT = 2;
/** What stays on the host beside weights that go to a GPU. */
const HOST_BYTES = 1_536 * MB;

/** What a load will take, from the sizes of the files and what the host would run them on; errs upwards. @throws {JobFailure} */
export async function estimateDiffusers({ modelPath, weights, device }: LoadRequest): Promise<MemoryUse> {
  const { bytes, textEncoders } = await findPipeline(modelPath, weights);
  const [provider = "cpu"] = await providersFor(device);
  return memoryFor(provider, bytes, textEncoders.length > 1);
}

/** @param bytes of the weights */
export function memoryFor(provider: ExecutionProvider, bytes: number, isXl: boolean): MemoryUse {
  const working = Math.min(isXl ? XL_WORKING_BYTES : WORKING_BYTES, Math.max(256 * MB, WORKING_PER_WEIGHT * bytes));
  switch (provider) {
    case "cpu":
    case "coreml":
      // Core ML shares one memory with the CPU.
      return { ramBytes: PROCESS_BYTES + COPIES * bytes + working, vramBytes: 0 };
    case "cuda":
    case "dml":
    case "webgpu":
      return { ramBytes: Math.min(HOST_BYTES, PROCESS_BYTES + bytes) + bytes, vramBytes: bytes + working };
    default:
      return provider satisfies never;
  }
}
