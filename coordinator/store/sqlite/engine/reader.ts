import type { Worker } from "node:worker_threads";
import { ServiceError } from "../../../../shared/errors.ts";
import { errorOf } from "./worker-errors.ts";
import type { StepOperation } from "./operations.ts";
import type { PageRead, PageReadArgs, PageReadKind, PageReadResult } from "./page-reads.ts";
import type { FromReader, ToReader } from "./reader-worker.ts";
import { ReusedThreads } from "./reused-threads.ts";

const threads = new ReusedThreads("reader-worker", import.meta.url);

interface PendingRead {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Reads pages of long lists one after the other, in a thread that starts with the first read. Each sees the newest commit. */
export class Reader {
  readonly #path: string;
  #thread: ReaderThread | null = null;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  run<K extends PageReadKind>(kind: K, args: PageReadArgs<K>): Promise<PageReadResult<K>> {
    return this.#read([kind, args] as unknown as PageRead) as Promise<PageReadResult<K>>;
  }

  /** As {@link run}, for a step of a store. */
  runStep(step: string, args: readonly unknown[]): Promise<unknown> {
    return this.#read([step, args] as StepOperation);
  }

  #read(read: PageRead | StepOperation): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new ServiceError("shutting_down", "The store is closed"));
    // If the thread died, its reads were rejected; start a new one.
    if (this.#thread?.isAlive !== true) this.#thread = new ReaderThread(this.#path);
    return this.#thread.read(read);
  }

  /** Refuses new reads; resolves when the earlier ones are answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.close();
  }
}

class ReaderThread {
  readonly #worker: Worker;
  /** The thread has closed the database, or is gone. */
  readonly #closed: Promise<void>;
  #pending: PendingRead[] = [];
  isAlive = true;

  constructor(path: string) {
    this.#worker = threads.take();
    this.#closed = new Promise((resolve) => {
      this.#worker.on("message", (answer: FromReader) => {
        if ("isClosed" in answer) {
          threads.giveBack(this.#worker);
          resolve();
        } else this.#settle(answer);
      });
      this.#worker.on("exit", (code) => {
        this.#break(new Error(`its thread ended with code ${code}`));
        resolve();
      });
    });
    this.#worker.on("error", (error) => this.#break(error));
    this.#worker.on("messageerror", (error) => this.#break(error));
    this.#worker.postMessage({ kind: "open", path } satisfies ToReader);
  }

  read(read: PageRead | StepOperation): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#worker.postMessage({ kind: "read", read } satisfies ToReader);
    });
  }

  async close(): Promise<void> {
    if (this.isAlive) this.#worker.postMessage({ kind: "close" } satisfies ToReader);
    await this.#closed;
  }

  #settle(answer: Exclude<FromReader, { isClosed: true }>): void {
    const read = this.#pending.shift();
    if ("failure" in answer) read?.reject(errorOf(answer.failure));
    else read?.resolve(answer.value);
  }

  #break(cause: unknown): void {
    this.isAlive = false;
    const reason = cause instanceof Error ? cause.message : String(cause);
    for (const { reject } of this.#pending) reject(new Error(`The store's reader stopped: ${reason}`, { cause }));
    this.#pending = [];
  }
}
