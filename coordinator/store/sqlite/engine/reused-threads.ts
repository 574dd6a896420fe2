import { Worker } from "node:worker_threads";

/** Threads that wait for the next store. */
const MAX_IDLE = 2;

/**
 * Threads that run one file for one store after the other: to start one takes 60 ms of a core (2026-11-22), which is half of what it takes to open
 * a store. One that waits does not keep the process alive.
 */
export class ReusedThreads {
  readonly #file: URL;
  readonly #idle: Worker[] = [];

  /** @param name of the file beside `importer`: TypeScript in the sources, JavaScript in the package. */
  constructor(name: string, importer: string) {
    this.#file = new URL(`./${name}.${importer.endsWith(".ts") ? "ts" : "js"}`, importer);
  }

  /** A thread without listeners. */
  take(): Worker {
    const waiting = this.#idle.pop();
    if (waiting === undefined) return new Worker(this.#file);
    removeListeners(waiting);
    waiting.ref();
    return waiting;
  }

  /** Call it when the thread has nothing more of its store. */
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

/** By name: a Worker has listeners of its own that start its port. */
function removeListeners(thread: Worker): void {
  for (const name of ["message", "messageerror", "error", "exit"]) thread.removeAllListeners(name);
}
