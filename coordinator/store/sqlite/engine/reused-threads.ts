import { Worker } from "node:worker_threads";

/** Maximum number of idle threads that wait for the next store. */
const MAX_IDLE = 2;

/**
 * Threads that run one file for successive stores. Starting a thread takes 60 ms of a core (2026-11-22), half the time of
 * opening a store. An idle thread does not keep the process alive.
 * @param name name of the file next to `importer`: TypeScript in the sources, JavaScript in the package.
 */
export function reusedThreads(name: string, importer: string) {
  const file = new URL(`./${name}.${importer.endsWith(".ts") ? "ts" : "js"}`, importer);
  const idle = new Set<Worker>();
  return {
    /** Returns a thread without listeners. */
    take(): Worker {
      const [thread] = idle;
      if (thread === undefined) return new Worker(file);
      idle.delete(thread);
      removeListeners(thread);
      thread.ref();
      return thread;
    },

    /** Call it when the thread holds no more resources of its store. */
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

/** Removes listeners by name, because a Worker has internal listeners that start its port. */
function removeListeners(thread: Worker): void {
  for (const name of ["message", "messageerror", "error", "exit"]) thread.removeAllListeners(name);
}
