import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** How long a host process may take until it is held for hung: to load, or to say what a load would take. */
export interface LoadLimits {
  readonly estimateMs: number;
  /** Of a load, beside what its bytes take: to start, to compile kernels. */
  readonly loadBaseMs: number;
  /** Least rate at which a model is read; slower than any disk that still works. */
  readonly leastBytesPerS: number;
}

export const DEFAULT_LOAD_LIMITS: LoadLimits = { estimateMs: 30_000, loadBaseMs: 120_000, leastBytesPerS: 20_000_000 };

/** For a model in one file or in a folder. A path that cannot be read has no bytes: to say so is for the load. */
export async function loadLimitMs(limits: LoadLimits, modelPath: string): Promise<number> {
  const bytes = await bytesAt(modelPath);
  return limits.loadBaseMs + Math.ceil((bytes / limits.leastBytesPerS) * 1_000);
}

async function bytesAt(path: string): Promise<number> {
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
