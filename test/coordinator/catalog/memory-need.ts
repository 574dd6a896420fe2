import { PROCESS_MB } from "../../../coordinator/catalog/cargo-rules.ts";
import { OFFLOADED_HOST_MB, roundUp } from "../../../coordinator/catalog/memory-need.ts";
import type { RuntimeType, WeightFormat } from "../../../shared/cargo.ts";
import { MIB } from "../../../shared/format-bytes.ts";

/** Weights of an image pipeline that a CPU runs in seconds. */
const MAX_CPU_PIPELINE = 1e8;
/** Copies of the weights in ONNX Runtime: one as in the file, and one laid out for the processor. */
const ONNX_COPIES = 2;
/**
 * Bytes of a weight. The 4-bit formats need more than half a byte, because they keep embeddings and norms in wider
 * types. Source: the formats themselves.
 */
const BYTES_PER_WEIGHT: Record<WeightFormat, number> = {
  fp32: 4,
  fp16: 2,
  int8: 1,
  uint8: 1,
  q8: 1,
  q4: 0.7,
  q4f16: 0.7,
  bnb4: 0.7,
};

/**
 * Returns the memory for other runtimes, from the number of weights and a job's working memory. An onnx Cargo targets
 * the CPU. A diffusers Cargo, unless small, targets a GPU that holds all of it. Core ML has shared memory, a wasm
 * module its cap, a container its limit.
 */
export function workingNeedMb(
  runtime: Exclude<RuntimeType, "llmcpp">,
  workingMb: number,
  weights: { readonly count: number; readonly format: WeightFormat },
): { ramMb: number; vramMb: number } {
  const weightsMb = (weights.count * BYTES_PER_WEIGHT[weights.format]) / MIB;
  switch (runtime) {
    case "onnx":
      return { ramMb: roundUp(ONNX_COPIES * weightsMb + workingMb + PROCESS_MB), vramMb: 0 };
    case "coreml":
      return { ramMb: roundUp(weightsMb + workingMb + PROCESS_MB), vramMb: 0 };
    case "diffusers":
      if (weights.count <= MAX_CPU_PIPELINE) return workingNeedMb("onnx", workingMb, weights);
      // The weights pass through host memory on their way to the GPU.
      return { ramMb: roundUp(weightsMb + OFFLOADED_HOST_MB), vramMb: roundUp(weightsMb + workingMb) };
    case "wasm":
      return { ramMb: roundUp(workingMb + PROCESS_MB), vramMb: 0 };
    case "container":
      return { ramMb: roundUp(workingMb), vramMb: 0 };
    case "engine":
      return { ramMb: 0, vramMb: 0 };
    default:
      return runtime satisfies never;
  }
}

/** Parses a number of parameters such as "1.1M" or "8B". @throws {RangeError} if it is invalid */
export function parameterCount(parameters: string): number {
  const [, figure, unit] = /^(\d+(?:\.\d+)?)([MB])$/.exec(parameters) ?? [];
  if (figure === undefined) throw new RangeError(`"${parameters}" is not a number of parameters such as "8B"`);
  return Number(figure) * (unit === "M" ? 1e6 : 1e9);
}
