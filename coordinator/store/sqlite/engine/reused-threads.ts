import { Worker } from "node:worker_threads";

/** Maximum number of idle threads kept for later stores. */
const MAX_IDLE = 2;

/**
 * Returns a pool of threads that run one file, for one store after another. Starting a thread takes 60 ms of a core
 * (2026-11-22), half the time of opening a store. An idle thread does not keep the process alive.
 * @param name file name next to `importer`, without extension: TypeScript in the sources, JavaScript in the package.
 */
export function reusedThreads(name: string, importer: string) {
  const file = new URL(`./${name}.${importer.endsWith(".ts") ? "ts" : "js"}`, importer);
  const idle = new Set<Worker>();
  return {
    take(): Worker {
      const [thread] = idle;
      if (thread === undefined) return new Worker(file);
      idle.delete(thread);
      removeListeners(thread);
      thread.ref();
      return thread;
    },

    /** Returns a thread to the pool. The thread must have released the resources of its store. */
    giveBack(thread: Worker): void {
      removeListeners(thread);
      if (idle.size >= MAX_IDLE) {
        void thread.terminate();
        return;
      }
      thread.once("error", () => idle.delete(thread));
      thread.once("exit", () => idle.delete(thread));
      thread.unref();
      idle.add(thread);
    },
  };
}

/** Removes the known listeners by name, because a Worker also has internal listeners that start its port. */
function removeListeners(thread: Worker): void {
  for (const name of ["message", "messageerror", "error", "exit"]) thread.removeAllListeners(name);
}
