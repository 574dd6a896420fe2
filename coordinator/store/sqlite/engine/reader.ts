import { ServiceError } from "../../../../shared/errors.ts";
import { toError } from "./worker-errors.ts";
import type { StepOperation } from "./operations.ts";
import type { FromReader, ToReader } from "./reader-worker.ts";
import { reusedThreads } from "./reused-threads.ts";

const threads = reusedThreads("reader-worker", import.meta.url);

interface PendingRead {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Opens the reader of pages of long lists. It runs one read at a time in a thread that starts with the first read. */
export function openReader(path: string) {
  let thread: ReaderThread | null = null;
  let isClosed = false;

  return {
    runStep(step: string, args: readonly unknown[]): Promise<unknown> {
      if (isClosed) return Promise.reject(new ServiceError("shutting_down", "The store is closed"));
      // A dead thread has rejected its reads, so a new one takes the next read.
      if (thread?.isAlive !== true) thread = readerThread(path);
      return thread.read([step, args] as StepOperation);
    },

    /** Refuses new reads, and resolves when the earlier ones have settled. */
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
  const closed = new Promise<void>((resolve) => {
    worker.on("message", (reply: FromReader) => {
      if ("isClosed" in reply) {
        threads.giveBack(worker);
        resolve();
      } else if ("failure" in reply) pending.shift()?.reject(toError(reply.failure));
      else pending.shift()?.resolve(reply.value);
    });
    worker.on("exit", (code) => {
      fail(new Error(`its thread ended with code ${code}`));
      resolve();
    });
  });
  worker.on("error", fail);
  worker.on("messageerror", fail);
  worker.postMessage({ kind: "open", path } satisfies ToReader);

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
