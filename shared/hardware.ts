import { z } from "zod";

const bytes = z.number().int().nonnegative();

/** One GPU. An unknown fact is `null`, never 0. */
const gpuSchema = z.object({
  vendor: z.string().max(100).nullable(),
  name: z.string().max(200),
  vramBytes: bytes.nullable(),
  /** True if the GPU has no memory of its own and uses RAM (Apple Silicon, most integrated GPUs). */
  unifiedMemory: z.boolean(),
  driver: z.string().max(100).nullable(),
});
export type Gpu = z.infer<typeof gpuSchema>;

/** Hardware of an Island, after its owner's overrides and caps. Sizes in bytes; an unknown fact is `null`. */
export const hardwareSchema = z.object({
  platform: z.string().max(50),
  arch: z.string().max(50),
  osName: z.string().max(200).nullable(),
  cpuModel: z.string().max(200).nullable(),
  logicalCores: z.number().int().positive(),
  physicalCores: z.number().int().positive().nullable(),
  /** RAM for jobs: the RAM of the machine or container, at most the owner's cap. */
  ramBytes: bytes,
  gpus: z.array(gpuSchema).max(64),
  /** Free space on the file system of the model store; null if it cannot be read. */
  diskFreeBytes: bytes.nullable(),
  /** Disk budget of the model store. */
  diskBudgetBytes: bytes,
});
export type Hardware = z.infer<typeof hardwareSchema>;

/** Returns the VRAM of all GPUs in bytes. A GPU of unknown size counts as 0. */
export function totalVramBytes(hardware: Pick<Hardware, "gpus">): number {
  return hardware.gpus.reduce((sum, gpu) => sum + (gpu.vramBytes ?? 0), 0);
}
