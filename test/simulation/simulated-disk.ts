import { runForReply, type TransactionRunner } from "../../coordinator/store/sqlite/engine/transaction-runner.ts";
import type { WriterThread } from "../../coordinator/store/sqlite/engine/writer.ts";
import type { FromWriter, ToWriter } from "../../coordinator/store/sqlite/engine/writer-worker.ts";

type Run = Extract<ToWriter, { kind: "run" }>;

/**
 * Replaces the writer thread and its disk. The seed decides when a transaction commits. Waiting transactions are lost
 * if the coordinator is killed, and fail if the disk is full.
 */
export class SimulatedDisk {
  isFull = false;
  readonly #runner: TransactionRunner;
  #waiting: { readonly run: Run; readonly answer: (answer: FromWriter) => void } | null = null;
  #thread: WriterThread | null = null;

  constructor(runner: TransactionRunner) {
    this.#runner = runner;
  }

  /** Opens the disk for a new life of the coordinator. The previous life can no longer write. */
  startThread(): WriterThread {
    let answer: (answer: FromWriter) => void = () => {};
    const thread: WriterThread = {
      on: (event: string, listener: (value: never) => void) => {
        if (event === "message") answer = listener as typeof answer;
      },
      postMessage: (message) => {
        if (this.#thread !== thread || message.kind !== "run") return;
        this.#waiting = { run: message, answer };
      },
      release: () => {},
    };
    this.#waiting = null;
    this.#thread = thread;
    return thread;
  }

  /** Drops waiting transactions of a killed coordinator. */
  cut(): void {
    this.#waiting = null;
    this.#thread = null;
  }

  /** Returns the kinds of waiting operations. */
  get waiting(): readonly string[] {
    return this.#waiting?.run.operations.map(([kind]) => kind) ?? [];
  }

  /** Commits the waiting transaction, or fails it while the disk is full. */
  commit(): void {
    if (this.#waiting === null) return;
    const { run, answer } = this.#waiting;
    this.#waiting = null;
    const runner = this.isFull ? { run: failAll } : this.#runner;
    void runForReply(runner, run.operations).then(answer);
  }
}

async function failAll(operations: Run["operations"]): ReturnType<TransactionRunner["run"]> {
  const failure = { kind: "storage", reason: "the disk is full" } as const;
  return { values: [], failures: operations.map((_, index) => [index, failure]), commits: 0 };
}
