import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { MIB } from "../../shared/format-bytes.ts";

const NS_PER_S = 1e9;
const TICKS_PER_S = 100;
/** Name that Node.js gives to threads of `node:worker_threads`. */
const NODE_WORKER = "WorkerThread";

/** Returns the CPU time of a process and its threads, in seconds. Linux only. */
export function cpuSeconds(pid: number): number {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // The thread has ended since it was listed.
    }
  }
  return ns / NS_PER_S;
}

/** Returns the CPU time of the process's worker threads, without those of V8 and libuv, in seconds. Linux only. */
export function workerThreadSeconds(pid: number): number {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const task = `/proc/${pid}/task/${thread}`;
    if (readFileSync(`${task}/comm`, "utf8").trim() !== NODE_WORKER) continue;
    ns += Number(readFileSync(`${task}/schedstat`, "utf8").split(" ")[0]);
  }
  return ns / NS_PER_S;
}

/** Returns the CPU time of a process and its running children, in seconds. Linux only. */
export function familyCpuSeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  let seconds = cpuSeconds(pid);
  for (const child of children) {
    try {
      seconds += familyCpuSeconds(Number(child));
    } catch {
      // The child has ended since it was listed.
    }
  }
  return seconds;
}

/**
 * Returns how long the main thread of a process ran, and how long it was runnable but waited for a core, in seconds.
 * Linux only.
 */
export function mainThreadSeconds(pid: number): { runS: number; waitS: number } {
  const [runNs, waitNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ").map(Number);
  return { runS: (runNs ?? Number.NaN) / NS_PER_S, waitS: (waitNs ?? Number.NaN) / NS_PER_S };
}

/** Returns the total idle time of all cores, in seconds. Linux only. */
export function idleCoreSeconds(): number {
  const [, , , , idle, waiting] = readFileSync("/proc/stat", "utf8").split(/\s+/, 6).map(Number);
  return ((idle ?? Number.NaN) + (waiting ?? Number.NaN)) / TICKS_PER_S;
}

/** Returns the bytes that the process has written to disk; 0 for files in memory (tmpfs). Linux only. */
export function diskBytesWritten(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

/** Returns the resident memory of a process in MB. Linux only. */
export function residentMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kb) * 1_024) / MIB;
}

/** Returns the sizes of the database and its write-ahead log, in MB. */
export function databaseMb(dataDirectory: string): { databaseMb: number; walMb: number } {
  const mb = (name: string): number => {
    const path = join(dataDirectory, name);
    return existsSync(path) ? statSync(path).size / MIB : 0;
  };
  return { databaseMb: mb("atoll.db"), walMb: mb("atoll.db-wal") };
}
