import { readFileSync } from "node:fs";

/**
 * Counts of read and write system calls (of files, sockets and wake-ups of threads), and the number of written bytes.
 */
export interface ThreadIo {
  readonly reads: number;
  readonly writes: number;
  readonly bytesWritten: number;
}

/** Reads the counters of the main thread of a process, which has its sockets. Linux only. */
export const mainThreadIo = (pid: number): ThreadIo => readIo(`/proc/${pid}/task/${pid}/io`);

/** Reads the counters of all other threads, which include the threads of the store. Linux only. */
export function otherThreadsIo(pid: number): ThreadIo {
  return difference(readIo(`/proc/${pid}/io`), mainThreadIo(pid));
}

export function difference(after: ThreadIo, before: ThreadIo): ThreadIo {
  return {
    reads: after.reads - before.reads,
    writes: after.writes - before.writes,
    bytesWritten: after.bytesWritten - before.bytesWritten,
  };
}

function readIo(path: string): ThreadIo {
  const text = readFileSync(path, "utf8");
  const field = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(text)?.[1]);
  return { reads: field("syscr"), writes: field("syscw"), bytesWritten: field("wchar") };
}
