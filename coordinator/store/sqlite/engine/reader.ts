import { ServiceError } from "../../../../shared/errors.ts";
import { errorOf } from "./worker-errors.ts";
import type { StepOperation } from "./operations.ts";
import type { FromReader, ToReader } from "./reader-worker.ts";
import { ReusedThreads } from "./reused-threads.ts";

const threads = new ReusedThreads("reader-worker", import.meta.url);

interface PendingRead {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Reads pages of long lists one at a time, in a thread that starts with the first read. Each read sees the newest commit. */
export function openReader(path: string) {
  let thread: ReaderThread | null = null;
  let isClosed = false;

  return {
    /** `step`: its name, for example "ledger.list". */
    runStep(step: string, args: readonly unknown[]): Promise<unknown> {
      if (isClosed) return Promise.reject(new ServiceError("shutting_down", "The store is closed"));
      // A dead thread has rejected its reads; start a new one.
      if (thread?.isAlive !== true) thread = readerThread(path);
      return thread.read([step, args] as StepOperation);
    },

    /** Refuses new reads. Resolves when the earlier ones have settled. */
    async close(): Promise<void> {
      isClosed = true;
      await thread?.close();
    },
  };
}

type ReaderThread = ReturnType<typeof readerThread>;

function readerThread(path: string) {
  let pending: PendingRead[] = [];
  let isAlive = true;
  const worker = threads.take();
  /** Resolves when the thread has closed the database or has exited. */
  const closed = new Promise<void>((resolve) => {
    worker.on("message", (answer: FromReader) => {
      if ("isClosed" in answer) {
        threads.giveBack(worker);
        resolve();
      } else settle(answer);
    });
    worker.on("exit", (code) => {
      fail(new Error(`its thread ended with code ${code}`));
      resolve();
    });
  });
  worker.on("error", (error) => fail(error));
  worker.on("messageerror", (error) => fail(error));
  worker.postMessage({ kind: "open", path } satisfies ToReader);

  function settle(answer: Exclude<FromReader, { isClosed: true }>): void {
    const read = pending.shift();
    if ("failure" in answer) read?.reject(errorOf(answer.failure));
    else read?.resolve(answer.value);
  }

  function fail(cause: unknown): void {
    isAlive = false;
    const reason = cause instanceof Error ? cause.message : String(cause);
    for (const { reject } of pending) reject(new Error(`The store's reader stopped: ${reason}`, { cause }));
    pending = [];
  }

  return {
    get isAlive(): boolean {
      return isAlive;
    },

    read(read: StepOperation): Promise<unknown> {
      return new Promise((resolve, reject) => {
        pending.push({ resolve, reject });
        worker.postMessage({ kind: "read", read } satisfies ToReader);
      });
    },

    async close(): Promise<void> {
      if (isAlive) worker.postMessage({ kind: "close" } satisfies ToReader);
      await closed;
    },
  };
}
