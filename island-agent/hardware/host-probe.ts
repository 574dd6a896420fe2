import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { arch, availableParallelism, cpus, freemem, totalmem, type CpuInfo } from "node:os";
import { dirname } from "node:path";
import type * as SystemInformation from "systeminformation";
import type { GraphicsController } from "./graphics-controllers.ts";

/** Reads values from the machine. A value that cannot be read is null or empty, which is a normal outcome. */
export interface HostProbe {
  readonly platform: string;
  readonly arch: string;
  totalRamBytes(): number;
  freeRamBytes(): number;
  cpus(): readonly CpuInfo[];
  /** Returns the cores that this process may use, by affinity and container. */
  availableCores(): number;
  /** Reads small virtual files only, because it blocks. */
  readText(path: string): string | null;
  listDirectory(path: string): readonly string[];
  /** Returns a program's output; null when it is missing, fails or takes too long. */
  run(command: string, args: readonly string[], signal?: AbortSignal): Promise<string | null>;
  /** Returns the free bytes on the file system of a path that may not exist yet. */
  diskFreeBytes(path: string): Promise<number | null>;
  osName(): Promise<string | null>;
  physicalCores(): Promise<number | null>;
  graphics(): Promise<readonly GraphicsController[]>;
}

const RUN_TIMEOUT_MS = 10_000;
const RUN_MAX_BYTES = 1_000_000;

export const systemProbe: HostProbe = {
  platform: process.platform,
  arch: arch(),
  totalRamBytes: totalmem,
  freeRamBytes: freemem,
  cpus,
  availableCores: availableParallelism,
  readText: (path) => orNull(() => readFileSync(path, "utf8")),
  listDirectory: (path) => orNull(() => readdirSync(path)) ?? [],
  run: runProgram,
  diskFreeBytes,
  async osName() {
    const si = await systemInformation();
    const info = await si?.osInfo().catch(() => null);
    // Distribution and release only: `serial` is the machine's id and is never read.
    return `${info?.distro ?? ""} ${info?.release ?? ""}`.trim() || null;
  },
  async physicalCores() {
    const si = await systemInformation();
    const info = await si?.cpu().catch(() => null);
    return info?.physicalCores || null;
  },
  async graphics() {
    const si = await systemInformation();
    const info = await si?.graphics().catch(() => null);
    return info?.controllers ?? [];
  },
};

/** Loads systeminformation on first use. Without the package the Island works, with fewer values. */
async function systemInformation(): Promise<typeof SystemInformation | null> {
  try {
    return await import("systeminformation");
  } catch {
    return null;
  }
}

function runProgram(command: string, args: readonly string[], signal?: AbortSignal): Promise<string | null> {
  const options = { timeout: RUN_TIMEOUT_MS, maxBuffer: RUN_MAX_BYTES, windowsHide: true };
  return new Promise((resolve) => {
    execFile(command, args, signal === undefined ? options : { ...options, signal }, (error, stdout) => {
      resolve(error === null ? stdout : null);
    });
  });
}

async function diskFreeBytes(path: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(path);
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isMissing && parent !== path ? diskFreeBytes(parent) : null;
  }
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
