import { Worker } from "node:worker_threads";
import { ServiceError } from "../../../../shared/errors.ts";
import { errorOf } from "./worker-errors.ts";
import type { Operation, OperationArgs, OperationKind, OperationResult } from "./operations.ts";
import type { TransactionAnswer } from "./transaction-runner.ts";
import type { FromWriter, ToWriter, WriterWorkerData } from "./writer-worker.ts";

/** Operations in one transaction; bounds how long the first one waits for the last. */
const MAX_OPERATIONS = 512;

interface PendingOperation {
  readonly operation: Operation;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Group commit. Operations queue in call order; whenever the worker is free, all queued ones go to it as one transaction. An idle
 * store adds no delay, and a busy one shares each sync of the disk among many operations.
 */
export class Writer {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #queue: PendingOperation[] = [];
  #inFlight: PendingOperation[] = [];
  /** Calls of `truncateLog` that the worker has not answered, in order. */
  #truncations: ((isLogEmpty: boolean) => void)[] = [];
  #isScheduled = false;
  #drained: Promise<void> | null = null;
  #fault: Error | null = null;
  #onDrained: (() => void) | null = null;
  #commits = 0;

  constructor(path: string) {
    // The same file is TypeScript in the sources and JavaScript in the package.
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const data: WriterWorkerData = { path };
    this.#worker = new Worker(new URL(`./writer-worker.${extension}`, import.meta.url), { workerData: data });
    this.#worker.on("message", (answer: FromWriter) => {
      if ("isLogEmpty" in answer) this.#truncations.shift()?.(answer.isLogEmpty);
      else this.#settle(answer);
    });
    this.#worker.on("error", (error) => this.#break(toError(error)));
    this.#worker.on("messageerror", (error) => this.#break(error));
    this.#exited = new Promise((resolve) => {
      this.#worker.on("exit", (code) => {
        if (!this.#isIdle || this.#drained === null) this.#break(new Error(`its thread ended with code ${code}`));
        resolve();
      });
    });
  }

  /** Transactions committed so far. */
  get commits(): number {
    return this.#commits;
  }

  get #isIdle(): boolean {
    return this.#queue.length + this.#inFlight.length === 0;
  }

  /** Resolves after the commit of the operation. */
  run<K extends OperationKind>(kind: K, args: OperationArgs<K>): Promise<OperationResult<K>> {
    if (this.#drained !== null) return Promise.reject(new ServiceError("shutting_down", "The store is closed"));
    if (this.#fault !== null) return Promise.reject(this.#fault);
    return new Promise((resolve, reject) => {
      const operation = [kind, args] as unknown as Operation;
      this.#queue.push({ operation, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Empties the write-ahead log between two transactions. False if that is not possible now. */
  truncateLog(): Promise<boolean> {
    if (this.#drained !== null || this.#fault !== null) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#truncations.push(resolve);
      this.#worker.postMessage({ kind: "truncateLog" } satisfies ToWriter);
    });
  }

  /** Refuses new operations; resolves when the earlier ones are answered. */
  drain(): Promise<void> {
    this.#drained ??= this.#isIdle ? Promise.resolve() : new Promise((resolve) => (this.#onDrained = resolve));
    return this.#drained;
  }

  /** Drains, then ends the worker. */
  async close(): Promise<void> {
    await this.drain();
    if (this.#fault === null) this.#worker.postMessage({ kind: "close" } satisfies ToWriter);
    await this.#exited;
  }

  /** Posts in a microtask, so that the calls of one turn share a transaction. */
  #schedule(): void {
    if (this.#isScheduled || this.#inFlight.length > 0) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#post();
    });
  }

  #post(): void {
    if (this.#queue.length === 0 || this.#inFlight.length > 0) return;
    this.#inFlight = this.#queue.splice(0, MAX_OPERATIONS);
    const operations = this.#inFlight.map(({ operation }) => operation);
    this.#worker.postMessage({ kind: "run", operations } satisfies ToWriter);
  }

  #settle({ values, failures, commits }: TransactionAnswer): void {
    const answered = this.#inFlight;
    this.#inFlight = [];
    this.#commits = commits;
    for (const [index, failure] of failures) answered[index]?.reject(errorOf(failure));
    for (const [index, { resolve }] of answered.entries()) resolve(values[index]);
    if (this.#isIdle) this.#onDrained?.();
    else this.#schedule();
  }

  /** The worker is gone. Whether the operations in flight were committed is unknown, and nothing more can be written. */
  #break(cause: Error): void {
    this.#fault ??= new Error(`The store's writer stopped: ${cause.message}`, { cause });
    const lost = [...this.#inFlight, ...this.#queue];
    this.#inFlight = [];
    this.#queue = [];
    for (const { reject } of lost) reject(this.#fault);
    for (const resolve of this.#truncations.splice(0)) resolve(false);
    this.#onDrained?.();
  }
}

function toError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}
