import { Worker } from "node:worker_threads";

/** JavaScript heap of a guest's thread, which holds what a module creates outside of its memory (exceptions, references). */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };

/** Keeps one guest thread started in advance: starting takes longer than most jobs run. */
export class SpareThread {
  #thread = start();
  #isDead = false;

  constructor() {
    this.#watch(this.#thread);
  }

  /** Returns the ready thread and starts the next one. */
  take(): Worker {
    const taken = this.#isDead ? start() : this.#thread;
    taken.removeAllListeners();
    this.#isDead = false;
    this.#thread = start();
    this.#watch(this.#thread);
    return taken;
  }

  async end(): Promise<void> {
    await this.#thread.terminate();
  }

  #watch(thread: Worker): void {
    const note = (): void => {
      if (thread === this.#thread) this.#isDead = true;
    };
    thread.once("error", note);
    thread.once("exit", note);
  }
}

/** No `execArgv`: an own list would remove Node's permission model from the thread. */
function start(): Worker {
  const entry = new URL(`./guest-thread.${import.meta.url.slice(-2)}`, import.meta.url);
  return new Worker(entry, { env: {}, stdin: false, resourceLimits: HEAP_LIMITS });
}
