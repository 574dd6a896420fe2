import { z } from "zod";

const bytes = z.number().int().nonnegative();

/** One graphics processor. Unknown is `null`, never 0. */
export const gpuSchema = z.object({
  vendor: z.string().max(100).nullable(),
  name: z.string().max(200),
  vramBytes: bytes.nullable(),
  /** True where the GPU has no memory of its own but takes it from RAM (Apple Silicon, most integrated ones). */
  unifiedMemory: z.boolean(),
  driver: z.string().max(100).nullable(),
});
export type Gpu = z.infer<typeof gpuSchema>;

/** What an Island has, after its owner's overrides and caps. Bytes everywhere; unknown is `null`. */
export const hardwareSchema = z.object({
  platform: z.string().max(50),
  arch: z.string().max(50),
  osName: z.string().max(200).nullable(),
  cpuModel: z.string().max(200).nullable(),
  logicalCores: z.number().int().positive(),
  physicalCores: z.number().int().positive().nullable(),
  /** RAM that jobs may use: the machine's or the container's, cut to the owner's cap. */
  ramBytes: bytes,
  gpus: z.array(gpuSchema).max(64),
  /** Free space on the file system of the model store; null when it cannot be read. */
  diskFreeBytes: bytes.nullable(),
  /** Most that the model store may hold. */
  diskBudgetBytes: bytes,
});
export type Hardware = z.infer<typeof hardwareSchema>;

/** VRAM over all GPUs, in bytes; GPUs of unknown size count as none. */
export function totalVramBytes(hardware: Pick<Hardware, "gpus">): number {
  return hardware.gpus.reduce((sum, gpu) => sum + (gpu.vramBytes ?? 0), 0);
}
