import type { Clock, Timer } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { errorOf } from "./worker-errors.ts";
import { stepNamed } from "../../all-steps.ts";
import {
  isStep,
  type Operation,
  type OperationArgs,
  type OperationKind,
  type OperationResult,
  type StepOperation,
} from "./operations.ts";
import { ReusedThreads } from "./reused-threads.ts";
import type { RunAnswer } from "./transaction-runner.ts";
import type { FromWriter, ToWriter } from "./writer-worker.ts";

/**
 * What has happened already, on an Island or in memory: it is written as soon as that is possible again. What a caller only asks for
 * is refused meanwhile.
 */
const KEPT: ReadonlySet<OperationKind> = new Set<OperationKind>(["moveJob", "appendFeed", "endJob"]);
const isKept = (operation: Operation): boolean =>
  isStep(operation) ? stepNamed(operation[0]).isKept === true : KEPT.has(operation[0]);

/** Time between tries while nothing can be written. */
const RETRY_MS = 500;
/** Most operations that are kept; output is bounded by its own budgets. With more the writer stops. */
const MAX_KEPT = 100_000;

const threads = new ReusedThreads("writer-worker", import.meta.url);

/** Operations in one transaction; bounds how long the first one waits for the last. */
const MAX_OPERATIONS = 512;

/** The thread that writes, as a {@link Writer} sees it. */
export interface WriterThread {
  postMessage(message: ToWriter): void;
  on(event: "message", listener: (answer: FromWriter) => void): unknown;
  on(event: "error" | "messageerror", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
  /** Called when the thread has closed its database. */
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

const LOW_SPACE = "the coordinator's disk is nearly full; its operator has to make room";

interface Caller {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}
interface QueuedOperation extends Caller {
  readonly operation: Operation;
}

/**
 * Group commit. Operations queue in call order; whenever the worker is free, all queued ones go to it as one transaction. An idle
 * store adds no delay, and a busy one shares each sync of the disk among many operations. While nothing can be written (the disk is
 * full, another process holds the lock) the store is read-only: it keeps what must not be lost and refuses the rest.
 */
export class Writer {
  readonly #thread: WriterThread;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #onReadOnly: (because: string | null) => void;
  /** The worker has closed the database, or is gone. */
  readonly #closed: Promise<void>;
  #queue: QueuedOperation[] = [];
  /** Without their operations, which the worker has: an image would be in memory twice. */
  #inFlight: Caller[] = [];
  /** Calls of `truncateLog` that the worker has not answered, in order. */
  #truncations: ((isLogEmpty: boolean) => void)[] = [];
  #isScheduled = false;
  /** Why nothing can be written now. */
  #readOnlyBecause: string | null = null;
  #lowSpaceBecause: string | null = null;
  #retry: Timer | null = null;
  #drained: Promise<void> | null = null;
  #fault: Error | null = null;
  #onDrained: (() => void) | null = null;
  #commits = 0;

  /** @param onReadOnly told why the store takes nothing new, and null when it does again. */
  constructor(thread: WriterThread, clock: Pick<Clock, "schedule">, onReadOnly: (because: string | null) => void) {
    this.#thread = thread;
    this.#clock = clock;
    this.#onReadOnly = onReadOnly;
    this.#closed = new Promise((resolve) => {
      this.#thread.on("message", (answer: FromWriter) => {
        if ("isClosed" in answer) {
          this.#thread.release();
          resolve();
        } else if ("isLogEmpty" in answer) this.#truncations.shift()?.(answer.isLogEmpty);
        else this.#settle(answer);
      });
      this.#thread.on("exit", (code) => {
        this.#break(new Error(`its thread ended with code ${code}`));
        resolve();
      });
    });
    this.#thread.on("error", (error) => this.#break(toError(error)));
    this.#thread.on("messageerror", (error) => this.#break(toError(error)));
  }

  /** Transactions committed so far. */
  get commits(): number {
    return this.#commits;
  }

  /** Operations that are not committed yet. */
  get queued(): number {
    return this.#queue.length + this.#inFlight.length;
  }

  /** Why the store takes nothing new; null while it does. */
  get readOnlyBecause(): string | null {
    return this.#readOnlyBecause ?? this.#lowSpaceBecause;
  }

  /** The disk has so little space that the rest is for what must not be lost; null when it has enough. */
  setLowSpace(because: string | null): void {
    if (because !== this.#lowSpaceBecause && this.#readOnlyBecause === null) this.#onReadOnly(because);
    this.#lowSpaceBecause = because;
  }

  get #isIdle(): boolean {
    return this.queued === 0;
  }

  /** Resolves after the commit of the operation. Rejects with `storage_unavailable` while nothing can be written, unless it is kept. */
  run<K extends OperationKind>(kind: K, args: OperationArgs<K>): Promise<OperationResult<K>> {
    return this.#add([kind, args] as unknown as Operation) as Promise<OperationResult<K>>;
  }

  runStep(step: string, args: readonly unknown[]): Promise<unknown> {
    return this.#add([step, args] as unknown as StepOperation);
  }

  #add(operation: Operation): Promise<unknown> {
    if (this.#drained !== null) return Promise.reject(new ServiceError("shutting_down", "The store is closed"));
    if (this.#fault !== null) return Promise.reject(this.#fault);
    // Where the disk is, and the setting, are for the log.
    const refusal = this.#readOnlyBecause ?? (this.#lowSpaceBecause === null ? null : LOW_SPACE);
    if (refusal !== null && !isKept(operation)) return Promise.reject(unavailable(refusal));
    return new Promise((resolve, reject) => {
      this.#queue.push({ operation, resolve, reject });
      this.#schedule();
    });
  }

  /** Empties the write-ahead log between two transactions. False if that is not possible now. */
  truncateLog(): Promise<boolean> {
    if (this.#drained !== null || this.#fault !== null) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#truncations.push(resolve);
      this.#thread.postMessage({ kind: "truncateLog" } satisfies ToWriter);
    });
  }

  /** Refuses new operations; resolves when the earlier ones are answered. */
  drain(): Promise<void> {
    this.#drained ??= this.#isIdle ? Promise.resolve() : new Promise((resolve) => (this.#onDrained = resolve));
    // A last try; what cannot be written then is lost, as in a crash.
    if (this.#retry !== null) this.#tryAgain();
    return this.#drained;
  }

  /** Drains, then closes the database. */
  async close(): Promise<void> {
    await this.drain();
    // Of no effect where the worker is gone.
    this.#thread.postMessage({ kind: "close" } satisfies ToWriter);
    await this.#closed;
  }

  /** Posts in a microtask, so that the calls of one turn share a transaction. */
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

  #settle({ values, failures, unwritten, commits }: RunAnswer): void {
    const answered = this.#inFlight;
    this.#inFlight = [];
    this.#commits = commits;
    const kept = new Map<Caller, QueuedOperation>();
    for (const [index, operation] of unwritten) {
      const caller = answered[index];
      if (caller !== undefined && isKept(operation)) kept.set(caller, { ...caller, operation });
    }
    let readOnlyBecause: string | null = null;
    for (const [index, failure] of failures) {
      const caller = answered[index];
      if (failure.kind === "storage") readOnlyBecause = failure.reason;
      if (caller !== undefined && !kept.has(caller)) caller.reject(errorOf(failure));
    }
    for (const [index, caller] of answered.entries()) if (!kept.has(caller)) caller.resolve(values[index]);
    this.#queue.unshift(...kept.values());
    this.#setReadOnly(readOnlyBecause);
    if (this.#isIdle) this.#onDrained?.();
    else this.#schedule();
  }

  #setReadOnly(because: string | null): void {
    if (because !== this.#readOnlyBecause) this.#onReadOnly(because);
    this.#readOnlyBecause = because;
    if (because === null) return undefined;
    for (const { operation, reject } of this.#queue) if (!isKept(operation)) reject(unavailable(because));
    this.#queue = this.#queue.filter(({ operation }) => isKept(operation));
    if (this.#drained !== null && !this.#isIdle) return this.#break(new Error(`${because}, and the store is closed`));
    if (this.#queue.length > MAX_KEPT) return this.#break(new Error(`${because}, and ${MAX_KEPT} writes wait`));
    if (this.#drained === null) this.#retry = this.#clock.schedule(RETRY_MS, () => this.#tryAgain());
  }

  /** Tries what is kept; if there is nothing, a small write, because nobody else would find out that the disk has space again. */
  #tryAgain(): void {
    this.#retry?.cancel();
    this.#retry = null;
    if (this.#queue.length === 0) this.#queue.push({ operation: ["check", {}], resolve: () => {}, reject: () => {} });
    this.#post();
  }

  /** The worker is gone. Whether the operations in flight were committed is unknown, and nothing more can be written. */
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
  return errorOf({ kind: "storage", reason });
}

function toError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}
