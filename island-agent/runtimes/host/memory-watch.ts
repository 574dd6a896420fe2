import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Clock, Timer } from "../../../shared/clock.ts";
import { formatMibRoundedDown, formatMibRoundedUp } from "../../../shared/format-bytes.ts";
import type { HostProcess } from "./host-process.ts";

/** Poll interval of a host's memory. Memory that is taken and freed between two polls is not seen. */
const INTERVAL_MS = 1_000;
const BYTES_PER_KIB = 1_024;

const run = promisify(execFile);

/**
 * Kills a host process with the code `out_of_memory` when its RAM exceeds the limit. The memory that a job needs is not
 * known in advance.
 * @returns a function that ends the watch; call it also when the process has ended. On platforms without memory data,
 * the watch does nothing.
 */
export function watchMemory(
  host: Pick<HostProcess, "pid" | "kill">,
  {
    clock,
    ceilingBytes,
    onMeasured,
  }: {
    readonly clock: Clock;
    /** RAM limit of the process. */
    readonly ceilingBytes: number;
    /** Called with the process's RAM, mapped files included. */
    readonly onMeasured: (bytes: number) => void;
  },
): () => void {
  let isOver = false;
  let timer: Timer | undefined;
  const poll = async (): Promise<void> => {
    // In a sandbox, the host starts a moment after the process around it.
    if (host.pid === undefined) return pollSoon();
    const memory = await memoryOf(host.pid);
    if (isOver || memory === null) return;
    const { residentBytes, ownBytes } = memory;
    if (ownBytes > ceilingBytes) {
      const words = `it used ${formatMibRoundedUp(ownBytes)} of RAM, but its limit is ${formatMibRoundedDown(ceilingBytes)}`;
      return host.kill(words, "out_of_memory");
    }
    onMeasured(residentBytes);
    pollSoon();
  };
  const pollSoon = (): void => {
    timer = clock.schedule(INTERVAL_MS, () => void poll());
  };
  const end = (): void => {
    isOver = true;
    timer?.cancel();
  };
  pollSoon();
  return end;
}

interface ProcessMemory {
  /** RAM, including mapped pages of files. */
  readonly residentBytes: number;
  /**
   * RAM without mapped pages, where the platform reports them. A model's weights may be such pages on their way to a
   * GPU, and the kernel reclaims them when RAM is short.
   */
  readonly ownBytes: number;
}

/** Returns null when the process has ended, or the platform does not report memory. */
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
