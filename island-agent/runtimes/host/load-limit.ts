import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Time limits after which a host process counts as hung. */
export interface LoadLimits {
  readonly estimateMs: number;
  /** Time for process start and compiling kernels, added to the time to read the model. */
  readonly loadBaseMs: number;
  /** Minimum rate at which a model is read. Any working disk is faster. */
  readonly minBytesPerS: number;
}

export const DEFAULT_LOAD_LIMITS: LoadLimits = { estimateMs: 30_000, loadBaseMs: 120_000, minBytesPerS: 20_000_000 };

/** Returns the time limit of a load. An unreadable path counts as 0 bytes; the load reports it. */
export async function loadLimitMs(limits: LoadLimits, modelPath: string): Promise<number> {
  const bytes = await bytesAt(modelPath);
  return limits.loadBaseMs + Math.ceil((bytes / limits.minBytesPerS) * 1_000);
}

/** Returns the bytes of a file, or of all files in a folder; 0 for an unreadable path. */
export async function bytesAt(path: string): Promise<number> {
  try {
    const stats = await stat(path);
    if (!stats.isDirectory()) return stats.size;
    const names = await readdir(path);
    const sizes = await Promise.all(names.map((name) => bytesAt(join(path, name))));
    return sizes.reduce((sum, bytes) => sum + bytes, 0);
  } catch {
    return 0;
  }
}
