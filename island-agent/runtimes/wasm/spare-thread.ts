import { Worker } from "node:worker_threads";

/** Of the JavaScript heap of a guest's thread, where what a module makes outside of its memory lives (exceptions, references). */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };

/** A guest's thread that is ready before its job comes: it takes longer to start than most jobs to run. */
export class SpareThread {
  #thread = start();
  #isDead = false;

  constructor() {
    this.#watch(this.#thread);
  }

  /** The thread, and another is made ready. */
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

/** Without `execArgv`: a list of its own would take Node's permission model from the thread. */
function start(): Worker {
  const entry = new URL(`./guest-thread.${import.meta.url.slice(-2)}`, import.meta.url);
  return new Worker(entry, { env: {}, stdin: false, resourceLimits: HEAP_LIMITS });
}
