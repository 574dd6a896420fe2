import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Clock, Timer } from "../../../shared/clock.ts";
import { formatMibRoundedDown, formatMibRoundedUp } from "../../../shared/format-bytes.ts";
import type { HostProcess } from "./host-process.ts";

/** How often a host's memory is looked at. What it takes and gives back in between is not seen. */
const INTERVAL_MS = 1_000;
const BYTES_PER_KIB = 1_024;

const run = promisify(execFile);

/**
 * Kills a host process, as `out_of_memory`, when it has more RAM than it may: what a job makes of a model is not known before.
 * @returns ends the watch; to be called when the process has ended too. Where the platform does not tell, there is nothing to watch.
 */
export function watchMemory(
  host: HostProcess,
  {
    clock,
    ceilingBytes,
    onMeasured,
  }: {
    readonly clock: Clock;
    /** RAM that the process may have. */
    readonly ceilingBytes: number;
    /** RAM that it has, mapped files included. */
    readonly onMeasured: (bytes: number) => void;
  },
): () => void {
  let isOver = false;
  let timer: Timer | undefined;
  const look = async (): Promise<void> => {
    // In a sandbox, the host starts a moment after what is around it.
    if (host.pid === undefined) return pollSoon();
    const memory = await memoryOf(host.pid);
    if (isOver || memory === null) return;
    const { residentBytes, ownBytes } = memory;
    if (ownBytes > ceilingBytes) {
      const words = `it took ${formatMibRoundedUp(ownBytes)} of RAM, and may take ${formatMibRoundedDown(ceilingBytes)}`;
      return host.kill(words, "out_of_memory");
    }
    onMeasured(residentBytes);
    pollSoon();
  };
  const pollSoon = (): void => {
    timer = clock.schedule(INTERVAL_MS, () => void look());
  };
  const end = (): void => {
    isOver = true;
    timer?.cancel();
  };
  pollSoon();
  return end;
}

interface ProcessMemory {
  /** With pages of files that it has mapped. */
  readonly residentBytes: number;
  /**
   * Without them, where the platform tells: a model's weights may be such pages on their way to a GPU, and the kernel takes them back
   * when RAM is short.
   */
  readonly ownBytes: number;
}

/** Null when the process is gone, or the platform does not tell. */
async function memoryOf(pid: number): Promise<ProcessMemory | null> {
  const [resident, own] = await kibibytesOf(pid).catch(() => [Number.NaN, Number.NaN]);
  if (resident === undefined || own === undefined || Number.isNaN(resident) || Number.isNaN(own)) return null;
  return { residentBytes: resident * BYTES_PER_KIB, ownBytes: own * BYTES_PER_KIB };
}

async function kibibytesOf(pid: number): Promise<number[]> {
  switch (process.platform) {
    case "linux": {
      const status = await readFile(`/proc/${pid}/status`, "utf8");
      return [/^VmRSS:\s+(\d+) kB$/m, /^RssAnon:\s+(\d+) kB$/m].map((line) => Number(line.exec(status)?.[1]));
    }
    case "darwin": {
      const { stdout } = await run("ps", ["-o", "rss=", "-p", String(pid)]);
      return [Number.parseInt(stdout, 10), Number.parseInt(stdout, 10)];
    }
    default:
      return [];
  }
}
