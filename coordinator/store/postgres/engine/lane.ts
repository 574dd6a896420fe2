import type { Clock, Timer } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { isKept, partiesOf, resultOf, type Operation } from "../operations/operations.ts";
import { isConflict, storageFaultOf } from "./storage-fault.ts";
import type { OpenWriter, WriterConnection } from "./writer-connection.ts";

/** Operations in one transaction; bounds how long the first one waits for the last. */
const MAX_OPERATIONS = 256;
/** By so many a commit may be larger than the last one, after one that failed. */
const MORE_OPERATIONS = 16;
/** Time between tries while nothing can be written. */
const RETRY_MS = 500;
/** How often operations that lost against another transaction are written again at once, before the server counts as away. */
const MAX_CONFLICTS = 5;

interface Queued {
  readonly operation: Operation;
  /** It was sent before, and its answer was lost: it may be done. */
  readonly isRepeat?: true;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A connection that writes operations in call order, all that have queued in one commit. What it keeps while nothing can be written is
 * bounded by the unfinished jobs, each of which has few attempts and few gathered writes of output under way (`JobWrites`), and its bytes
 * by the budgets of output and of what Islands sent and is not stored.
 */
export class Lane {
  readonly #open: OpenWriter;
  readonly #name: string;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #onFault: () => void;
  #queue: Queued[] = [];
  #connection: WriterConnection | null = null;
  #isWriting = false;
  #fault: string | null = null;
  #retry: Timer | null = null;
  /** How many of the first in the queue are written one by one, as there is a faulty one among them. */
  #alone = 0;
  /** Most operations in the next commit: fewer after one that failed, as the server may be too slow for many. */
  #most = MAX_OPERATIONS;
  #conflicts = 0;
  #onIdle: (() => void) | null = null;
  #isClosing = false;
  #commits = 0;
  /** Operations in the commit that is under way. */
  #inFlight = 0;

  constructor(open: OpenWriter, index: number, clock: Pick<Clock, "schedule">, onFault: () => void) {
    this.#open = open;
    this.#name = `atoll writer ${index + 1}`;
    this.#clock = clock;
    this.#onFault = onFault;
  }

  get commits(): number {
    return this.#commits;
  }

  /** Operations that are not committed yet. */
  get queued(): number {
    return this.#queue.length + this.#inFlight;
  }

  /** Why nothing can be written now. */
  get fault(): string | null {
    return this.#fault;
  }

  add(operation: Operation): Promise<unknown> {
    if (this.#isClosing) return Promise.reject(new ServiceError("shutting_down", "The store is closed"));
    return new Promise((resolve, reject) => {
      this.#queue.push({ operation, resolve, reject });
      // In a microtask, so that the calls of one turn share a commit.
      queueMicrotask(() => void this.#write());
    });
  }

  /** Tries once more to write what is kept. What cannot be written then is lost, as in a crash. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#retry?.cancel();
    this.#retry = null;
    void this.#write();
    if (this.#isWriting) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    for (const { reject } of this.#queue.splice(0)) reject(new Error(`${this.#fault}, and the store is closed`));
    await this.#connection?.end();
  }

  async #write(): Promise<void> {
    if (this.#isWriting || this.#retry !== null) return;
    this.#isWriting = true;
    let isUp = true;
    // While there is a fault, also without operations: nobody else would find out that the server is back.
    while (isUp && (this.#queue.length > 0 || this.#fault !== null)) {
      const batch = this.#queue.splice(0, this.#alone > 0 ? 1 : this.#most);
      this.#alone = Math.max(0, this.#alone - 1);
      this.#inFlight = batch.length;
      // oxlint-disable-next-line no-await-in-loop -- One commit after the other.
      isUp = await this.#writeBatch(batch);
      this.#inFlight = 0;
    }
    this.#isWriting = false;
    this.#onIdle?.();
  }

  /** False when nothing can be written now. */
  async #writeBatch(batch: readonly Queued[]): Promise<boolean> {
    let connection: WriterConnection;
    try {
      connection = this.#connection ??= await this.#connect();
    } catch (error) {
      // Whatever a server says that lets nobody in: it is away.
      this.#keep(batch, storageFaultOf(error) ?? String(error), error);
      return false;
    }
    let results: readonly unknown[];
    try {
      results = await this.#run(connection, batch);
    } catch (error) {
      if (isConflict(error) && this.#conflicts < MAX_CONFLICTS) {
        this.#conflicts += 1;
        this.#queue.unshift(...batch);
        return true;
      }
      const fault = storageFaultOf(error);
      if (fault === null) {
        this.#refuse(batch, error);
        return true;
      }
      this.#most = Math.max(1, Math.floor(batch.length / 2));
      // Whether it was done is unknown: it is asked again as a repeat, and what was done then is no fault.
      const repeats = batch.map((queued): Queued => ({ ...queued, isRepeat: true }));
      this.#keep(repeats, fault, error);
      return false;
    }
    this.#setFault(null);
    this.#conflicts = 0;
    this.#most = Math.min(MAX_OPERATIONS, this.#most + MORE_OPERATIONS);
    for (const [index, { operation, resolve, reject }] of batch.entries()) {
      const { value, refusal } = resultOf(operation, results[index]);
      if (refusal === null) resolve(value);
      else reject(refusal);
    }
    return true;
  }

  async #run(connection: WriterConnection, batch: readonly Queued[]): Promise<readonly unknown[]> {
    if (batch.length === 0) return [];
    const operations = batch.map(({ operation }) => operation);
    const sent = batch.map(({ operation, isRepeat }) => (isRepeat ? [...operation, true] : operation));
    const results = await connection.run(sent, partiesOf(operations));
    this.#commits += 1;
    return results;
  }

  /** The server refuses the statement. Of several operations each is tried alone, in order, so that only the faulty ones fail. */
  #refuse(batch: readonly Queued[], error: unknown): void {
    const [first] = batch;
    if (batch.length === 1) return first?.reject(error);
    this.#queue.unshift(...batch);
    this.#alone = batch.length;
    return undefined;
  }

  async #connect(): Promise<WriterConnection> {
    let opened: WriterConnection | null = null;
    opened = await this.#open(this.#name, () => {
      // Another one may have taken its place.
      if (this.#connection === opened) this.#connection = null;
    });
    return opened;
  }

  /** Puts back what has happened already, in its order, and refuses the rest. */
  #keep(batch: readonly Queued[], fault: string, error: unknown): void {
    // What the server still does with its last statement is unknown.
    void this.#connection?.end();
    this.#connection = null;
    const queue = [...batch, ...this.#queue];
    this.#queue = queue.filter(({ operation: [kind] }) => isKept(kind));
    this.#alone = 0;
    this.#setFault(fault);
    const refusal = new ServiceError("storage_unavailable", `Nothing can be stored now: ${fault}`, { cause: error });
    for (const { operation, reject } of queue) if (!isKept(operation[0])) reject(refusal);
    if (this.#isClosing) return;
    this.#retry = this.#clock.schedule(RETRY_MS, () => {
      this.#retry = null;
      void this.#write();
    });
  }

  #setFault(fault: string | null): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#onFault();
  }
}
