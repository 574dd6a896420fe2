import type { Clock, Timer } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { toError } from "./worker-errors.ts";
import { stepNamed } from "../../all-steps.ts";
import { KEPT_WRITES } from "../../jobs/hot-writes.ts";
import { isStep, type Operation, type Operations } from "./operations.ts";
import { reusedThreads } from "./reused-threads.ts";
import type { RunReply } from "./transaction-runner.ts";
import type { FromWriter, ToWriter } from "./writer-worker.ts";

const isKept = (operation: Operation): boolean =>
  isStep(operation) ? stepNamed(operation[0]).isKept === true : KEPT_WRITES.has(operation[0]);

/** Delay between attempts while the database is not writable. */
const RETRY_MS = 500;
/** Maximum number of queued kept operations, above which the writer stops. Output has its own budgets. */
const MAX_KEPT = 100_000;
/** Maximum number of operations in one transaction, which limits how long the first operation waits for the last. */
const MAX_OPERATIONS = 512;
/** Reason of a refusal for callers; disk path and setting appear only in the log. */
const LOW_SPACE = "the coordinator's disk is nearly full; its operator must free space";

const threads = reusedThreads("writer-worker", import.meta.url);

/** The methods of the thread that a {@link Writer} uses. */
export interface WriterThread {
  postMessage(message: ToWriter): void;
  on(event: "message", listener: (reply: FromWriter) => void): unknown;
  on(event: "error" | "messageerror", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
  /** Returns the thread to the pool, once it has closed its database. */
  release(): void;
}

export function startWriterThread(path: string): WriterThread {
  const thread = threads.take();
  thread.postMessage({ kind: "open", path } satisfies ToWriter);
  return {
    postMessage: (message) => thread.postMessage(message),
    on: (event: string, listener: (...values: never[]) => void) =>
      thread.on(event, listener as (...values: unknown[]) => void),
    release: () => threads.giveBack(thread),
  };
}

interface Caller {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}
interface QueuedOperation extends Caller {
  readonly operation: Operation;
}

/**
 * Group commit. Operations queue in call order; whenever the worker is free, it gets the queue as one transaction. An
 * idle store adds no delay, and a busy store shares each sync of the disk among many operations. While the database is
 * not writable (full disk, lock of another process), the store is read-only and keeps only `kept` operations.
 */
export class Writer {
  readonly #thread: WriterThread;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #onReadOnly: (reason: string | null) => void;
  readonly #closed: Promise<void>;
  #queue: QueuedOperation[] = [];
  /**
   * Callers of the operations that the worker runs; keeping the operations as well would hold images in memory twice.
   */
  #inFlight: Caller[] = [];
  #truncations: ((isLogEmpty: boolean) => void)[] = [];
  #isScheduled = false;
  #readOnlyReason: string | null = null;
  #lowSpaceReason: string | null = null;
  #retry: Timer | null = null;
  #drained: Promise<void> | null = null;
  #fault: Error | null = null;
  #onDrained: (() => void) | null = null;
  #commits = 0;

  /** `onReadOnly`: called with the reason when the store becomes read-only, with null when it is writable again. */
  constructor(thread: WriterThread, clock: Pick<Clock, "schedule">, onReadOnly: (reason: string | null) => void) {
    this.#thread = thread;
    this.#clock = clock;
    this.#onReadOnly = onReadOnly;
    this.#closed = new Promise((resolve) => {
      this.#thread.on("message", (reply: FromWriter) => {
        if ("isClosed" in reply) {
          this.#thread.release();
          resolve();
        } else if ("isLogEmpty" in reply) this.#truncations.shift()?.(reply.isLogEmpty);
        else this.#settle(reply);
      });
      this.#thread.on("exit", (code) => {
        this.#break(new Error(`its thread ended with code ${code}`));
        resolve();
      });
    });
    const onError = (error: unknown): void => this.#break(error instanceof Error ? error : new Error(String(error)));
    this.#thread.on("error", onError);
    this.#thread.on("messageerror", onError);
  }

  get commits(): number {
    return this.#commits;
  }

  get queued(): number {
    return this.#queue.length + this.#inFlight.length;
  }

  /** Reason why the store is read-only; null while it is writable. */
  get readOnlyReason(): string | null {
    return this.#readOnlyReason ?? this.#lowSpaceReason;
  }

  /** Makes the store read-only when space is low. `because`: reason, or null once there is enough space. */
  setLowSpace(reason: string | null): void {
    if (reason !== this.#lowSpaceReason && this.#readOnlyReason === null) this.#onReadOnly(reason);
    this.#lowSpaceReason = reason;
  }

  get #isIdle(): boolean {
    return this.queued === 0;
  }

  /** Resolves after the commit. While read-only, rejects with `storage_unavailable` unless the operation is kept. */
  run<K extends keyof Operations>(kind: K, args: Parameters<Operations[K]>[0]): Promise<ReturnType<Operations[K]>> {
    return this.#add([kind, args] as unknown as Operation) as Promise<ReturnType<Operations[K]>>;
  }

  runStep(step: string, args: readonly unknown[]): Promise<unknown> {
    return this.#add([step, args] as unknown as Operation);
  }

  #add(operation: Operation): Promise<unknown> {
    if (this.#drained !== null) return Promise.reject(new ServiceError("shutting_down", "The store is closed"));
    if (this.#fault !== null) return Promise.reject(this.#fault);
    const refusal = this.#readOnlyReason ?? (this.#lowSpaceReason === null ? null : LOW_SPACE);
    if (refusal !== null && !isKept(operation)) return Promise.reject(unavailable(refusal));
    return new Promise((resolve, reject) => {
      this.#queue.push({ operation, resolve, reject });
      this.#schedule();
    });
  }

  /** Truncates the log between two transactions. Resolves with false if that is not possible now. */
  truncateLog(): Promise<boolean> {
    if (this.#drained !== null || this.#fault !== null) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#truncations.push(resolve);
      this.#thread.postMessage({ kind: "truncateLog" } satisfies ToWriter);
    });
  }

  /** Refuses new operations, and resolves when the earlier ones have settled. */
  drain(): Promise<void> {
    this.#drained ??= this.#isIdle ? Promise.resolve() : new Promise((resolve) => (this.#onDrained = resolve));
    // One last attempt: operations that cannot be written now are lost, as in a crash.
    if (this.#retry !== null) this.#tryAgain();
    return this.#drained;
  }

  /** Waits for the earlier operations, then closes the database. */
  async close(): Promise<void> {
    await this.drain();
    // The message has no effect if the worker has exited.
    this.#thread.postMessage({ kind: "close" } satisfies ToWriter);
    await this.#closed;
  }

  /** Posts the queue in a microtask, so that all calls of this tick share a transaction. */
  #schedule(): void {
    if (this.#isScheduled || this.#inFlight.length > 0 || this.#retry !== null) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#post();
    });
  }

  #post(): void {
    if (this.#queue.length === 0 || this.#inFlight.length > 0) return;
    const queued = this.#queue.splice(0, MAX_OPERATIONS);
    this.#inFlight = queued.map(({ resolve, reject }) => ({ resolve, reject }));
    this.#thread.postMessage({ kind: "run", operations: queued.map(({ operation }) => operation) } satisfies ToWriter);
  }

  #settle({ values, failures, unwritten, commits }: RunReply): void {
    const settled = this.#inFlight;
    this.#inFlight = [];
    this.#commits = commits;
    const kept = new Map<Caller, QueuedOperation>();
    for (const [index, operation] of unwritten) {
      const caller = settled[index];
      if (caller !== undefined && isKept(operation)) kept.set(caller, { ...caller, operation });
    }
    let readOnlyReason: string | null = null;
    for (const [index, failure] of failures) {
      const caller = settled[index];
      if (failure.kind === "storage") readOnlyReason = failure.reason;
      if (caller !== undefined && !kept.has(caller)) caller.reject(toError(failure));
    }
    for (const [index, caller] of settled.entries()) if (!kept.has(caller)) caller.resolve(values[index]);
    this.#queue.unshift(...kept.values());
    this.#setReadOnly(readOnlyReason);
    if (this.#isIdle) this.#onDrained?.();
    else this.#schedule();
  }

  #setReadOnly(reason: string | null): void {
    if (reason !== this.#readOnlyReason) this.#onReadOnly(reason);
    this.#readOnlyReason = reason;
    if (reason === null) return undefined;
    for (const { operation, reject } of this.#queue) if (!isKept(operation)) reject(unavailable(reason));
    this.#queue = this.#queue.filter(({ operation }) => isKept(operation));
    if (this.#drained !== null && !this.#isIdle)
      return this.#break(new Error(`closed before it could write: ${reason}`));
    if (this.#queue.length > MAX_KEPT)
      return this.#break(new Error(`${reason}, and more than ${MAX_KEPT} writes are waiting`));
    if (this.#drained === null) this.#retry = this.#clock.schedule(RETRY_MS, () => this.#tryAgain());
  }

  /** Writes the kept operations again. With an empty queue, a small write detects that the disk has space. */
  #tryAgain(): void {
    this.#retry?.cancel();
    this.#retry = null;
    if (this.#queue.length === 0) this.#queue.push({ operation: ["check", {}], resolve: () => {}, reject: () => {} });
    this.#post();
  }

  /** Rejects all operations after the loss of the worker. Those in flight may have been committed. */
  #break(cause: Error): void {
    this.#fault ??= new Error(`The store's writer stopped: ${cause.message}`, { cause });
    const lost = [...this.#inFlight, ...this.#queue];
    this.#inFlight = [];
    this.#queue = [];
    this.#retry?.cancel();
    for (const { reject } of lost) reject(this.#fault);
    for (const resolve of this.#truncations.splice(0)) resolve(false);
    this.#onDrained?.();
  }
}

function unavailable(reason: string): Error {
  return toError({ kind: "storage", reason });
}
