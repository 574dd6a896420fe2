import { MIB } from "../../shared/format-bytes.ts";
import { PROCESS_MB } from "./cargo-rules.ts";

/** Step to which required memory is rounded up. */
export const MEMORY_STEP_MB = 64;
/** Parameters above which a Cargo is too slow on a CPU and requires a GPU that holds all of them. */
const MAX_CPU_PARAMETERS = 4.5e9;

/**
 * Host memory for a model on the GPU: its process, driver, pinned buffers and input embeddings. The value is estimated,
 * not measured.
 */
export const OFFLOADED_HOST_MB = 1_536;
/** KV cache entries are 16-bit. */
const BYTES_PER_KV = 2;
/**
 * Number of tokens that llama.cpp evaluates at once. For each of them it keeps a 32-bit logit of every vocabulary
 * entry.
 */
const BATCH_TOKENS = 512;
const BYTES_PER_LOGIT = 4;

export interface ModelShape {
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
 * Returns the memory that an Island needs for a GGUF Cargo, in MB rounded up to {@link MEMORY_STEP_MB}. A Cargo for the CPU needs
 * everything as RAM. One for the GPU needs VRAM for all layers, and RAM for the host's part.
 */
export function memoryNeedMb(shape: ModelShape, target: "cpu" | "gpu"): { ramMb: number; vramMb: number } {
  const computeBytes = BATCH_TOKENS * shape.vocabulary * BYTES_PER_LOGIT;
  const modelBytes = shape.fileBytes + kvCacheBytes(shape) + computeBytes;
  if (target === "cpu") return { ramMb: roundUp(modelBytes / MIB + PROCESS_MB), vramMb: 0 };
  return { ramMb: roundUp(OFFLOADED_HOST_MB), vramMb: roundUp(modelBytes / MIB) };
}

/** Returns the processor that a model with this number of parameters targets. */
export function targetOf(parameters: number): "cpu" | "gpu" {
  return parameters > MAX_CPU_PARAMETERS ? "gpu" : "cpu";
}

export function roundUp(mb: number): number {
  return Math.ceil(mb / MEMORY_STEP_MB) * MEMORY_STEP_MB;
}
