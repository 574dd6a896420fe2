import { PROCESS_MB } from "../../../coordinator/catalog/cargo-rules.ts";
import type { RuntimeType, WeightFormat } from "../../../shared/cargo.ts";
import { MIB } from "../../../shared/format-bytes.ts";

/** Step to which required memory is rounded up. */
export const MEMORY_STEP_MB = 64;
/** Parameters above which a Cargo is too slow on a CPU and requires a GPU that holds all of them. */
const MAX_CPU_PARAMETERS = 4.5e9;

/**
 * Host memory for a model on the GPU: its process, driver, pinned buffers and input embeddings. The value is estimated,
 * not measured.
 */
const OFFLOADED_HOST_MB = 1_536;
/** KV cache entries are 16-bit. */
const BYTES_PER_KV = 2;
/**
 * Number of tokens that llama.cpp evaluates at once. For each of them it keeps a 32-bit logit of every vocabulary
 * entry.
 */
const BATCH_TOKENS = 512;
const BYTES_PER_LOGIT = 4;

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

interface ModelShape {
  readonly fileBytes: number;
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly vocabulary: number;
  /** Context of each sequence. */
  readonly contextTokens: number;
  /** Number of jobs that run at the same time, each with its own context. */
  readonly sequences: number;
}

/**
 * Returns the bytes of the keys and values of every layer, for every token of every sequence. Layers with a sliding
 * window count in full.
 */
export function kvCacheBytes(shape: Omit<ModelShape, "fileBytes" | "vocabulary">): number {
  const perToken = 2 * shape.layers * shape.kvHeads * shape.headDim * BYTES_PER_KV;
  return perToken * shape.contextTokens * shape.sequences;
}

/**
 * Returns the memory that an Island needs for a GGUF Cargo, in MB rounded up to {@link MEMORY_STEP_MB}. A Cargo for the
 * CPU needs everything as RAM. One for the GPU needs VRAM for all layers, and RAM for the host's part.
 */
export function memoryNeedMb(shape: ModelShape, target: "cpu" | "gpu"): { ramMb: number; vramMb: number } {
  const computeBytes = BATCH_TOKENS * shape.vocabulary * BYTES_PER_LOGIT;
  const modelBytes = shape.fileBytes + kvCacheBytes(shape) + computeBytes;
  if (target === "cpu") return { ramMb: roundUp(modelBytes / MIB + PROCESS_MB), vramMb: 0 };
  return { ramMb: roundUp(OFFLOADED_HOST_MB), vramMb: roundUp(modelBytes / MIB) };
}

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

function roundUp(mb: number): number {
  return Math.ceil(mb / MEMORY_STEP_MB) * MEMORY_STEP_MB;
}

/** Parses a number of parameters such as "1.1M" or "8B". @throws {RangeError} if it is invalid */
export function parameterCount(parameters: string): number {
  const [, figure, unit] = /^(\d+(?:\.\d+)?)([MB])$/.exec(parameters) ?? [];
  if (figure === undefined) throw new RangeError(`"${parameters}" is not a number of parameters such as "8B"`);
  return Number(figure) * (unit === "M" ? 1e6 : 1e9);
}

/** Returns the processor that a model of `parameters` targets. @throws {RangeError} if the number is invalid */
export function targetOf(parameters: string): "cpu" | "gpu" {
  return parameterCount(parameters) > MAX_CPU_PARAMETERS ? "gpu" : "cpu";
}
