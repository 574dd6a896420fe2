import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Clock, Timer } from "../../../shared/clock.ts";
import type { HostProcess } from "./host-process.ts";

/** How often a host's memory is looked at. What it takes and gives back in between is not seen. */
const INTERVAL_MS = 1_000;
const BYTES_PER_KIB = 1_024;
const BYTES_PER_MIB = 1_048_576;

const run = promisify(execFile);

export interface MemoryWatchOptions {
  readonly clock: Clock;
  /** RAM that the process may have. */
  readonly ceilingBytes: number;
  /** RAM that it has, below the ceiling. */
  readonly onMeasured: (bytes: number) => void;
}

/**
 * Kills a host process, as `out_of_memory`, when it has more RAM than it may: what a job makes of a model is not known before.
 * @returns ends the watch; to be called when the process has ended too. Where the platform does not tell, there is nothing to watch.
 */
export function watchMemory(host: HostProcess, { clock, ceilingBytes, onMeasured }: MemoryWatchOptions): () => void {
  let isOver = false;
  let timer: Timer | undefined;
  const look = async (): Promise<void> => {
    const bytes = host.pid === undefined ? null : await residentBytes(host.pid);
    if (isOver || bytes === null) return;
    if (bytes > ceilingBytes) {
      return host.kill(`it took ${mebibytes(bytes)} of RAM, and may take ${mebibytes(ceilingBytes)}`, "out_of_memory");
    }
    onMeasured(bytes);
    lookSoon();
  };
  const lookSoon = (): void => {
    timer = clock.schedule(INTERVAL_MS, () => void look());
  };
  const end = (): void => {
    isOver = true;
    timer?.cancel();
  };
  lookSoon();
  return end;
}

/** RAM of a process, pages of files that it has mapped included; null when it is gone, or the platform is another one. */
async function residentBytes(pid: number): Promise<number | null> {
  const kibibytes = await residentText(pid).catch(() => "");
  return /^\d+$/.test(kibibytes) ? Number(kibibytes) * BYTES_PER_KIB : null;
}

async function residentText(pid: number): Promise<string> {
  switch (process.platform) {
    case "linux":
      return /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
    case "darwin":
      return (await run("ps", ["-o", "rss=", "-p", String(pid)])).stdout.trim();
    default:
      return "";
  }
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / BYTES_PER_MIB)} MiB`;
}
