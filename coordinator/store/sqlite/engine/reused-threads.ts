import { Worker } from "node:worker_threads";

/** Maximum number of idle threads that wait for the next store. */
const MAX_IDLE = 2;

/**
 * Threads that run one file for successive stores. Starting a thread takes 60 ms of a core (2026-11-22), half the time of opening a store.
 * An idle thread does not keep the process alive.
 */
export class ReusedThreads {
  readonly #file: URL;
  readonly #idle: Worker[] = [];

  /** @param name name of the file next to `importer`: TypeScript in the sources, JavaScript in the package. */
  constructor(name: string, importer: string) {
    this.#file = new URL(`./${name}.${importer.endsWith(".ts") ? "ts" : "js"}`, importer);
  }

  /** Returns a thread without listeners. */
  take(): Worker {
    const waiting = this.#idle.pop();
    if (waiting === undefined) return new Worker(this.#file);
    removeListeners(waiting);
    waiting.ref();
    return waiting;
  }

  /** Returns a thread for reuse. Call it when the thread holds no more resources of its store. */
  giveBack(thread: Worker): void {
    removeListeners(thread);
    if (this.#idle.length >= MAX_IDLE) {
      void thread.terminate();
      return;
    }
    const forget = (): void => {
      const at = this.#idle.indexOf(thread);
      if (at !== -1) this.#idle.splice(at, 1);
    };
    thread.once("error", forget);
    thread.once("exit", forget);
    thread.unref();
    this.#idle.push(thread);
  }
}

/** Removes listeners by name, because a Worker has internal listeners that start its port. */
function removeListeners(thread: Worker): void {
  for (const name of ["message", "messageerror", "error", "exit"]) thread.removeAllListeners(name);
}
