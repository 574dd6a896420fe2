import type { Clock, Timer } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { KEPT_WRITES } from "../../jobs/hot-writes.ts";
import { partiesOf, refusalIn, type Operation } from "../operations/operations.ts";
import { isConflict, findStorageFault } from "./storage-fault.ts";
import type { OpenWriter, WriterConnection } from "./writer-connection.ts";

/** Maximum number of operations in one transaction, which limits how long the first operation waits for the last. */
const MAX_OPERATIONS = 256;
/** Increase of the batch size after a commit, until it is {@link MAX_OPERATIONS} again. */
const BATCH_GROWTH = 16;
/** Delay between attempts while the server is not writable. */
const RETRY_MS = 500;
/** Maximum number of immediate attempts after a conflict, before the server counts as unavailable. */
const MAX_CONFLICTS = 5;

interface Queued {
  readonly operation: Operation;
  /** Whether the operation was sent before and the reply was lost, so that it may already be applied. */
  readonly isRepeat?: true;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A connection that writes its queued operations in call order, all in one commit. While the server is not writable,
 * the number of unfinished jobs limits the kept operations: each job has few attempts and few pending output writes
 * (`JobWrites`). The budgets for output and for unstored Island messages limit their bytes.
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
  /** Number of operations at the head of the queue to write one by one: one of them is faulty. */
  #singles = 0;
  /** Maximum number of operations in the next commit. A failure halves it: large commits may be too slow. */
  #batchSize = MAX_OPERATIONS;
  /** Number of consecutive conflicts. */
  #conflicts = 0;
  #onIdle: (() => void) | null = null;
  #isClosing = false;
  #commits = 0;
  /** Number of operations in the current commit. */
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

  get queued(): number {
    return this.#queue.length + this.#inFlight;
  }

  /** Reason why the server is not writable; null while it is. */
  get fault(): string | null {
    return this.#fault;
  }

  add(operation: Operation): Promise<unknown> {
    if (this.#isClosing) return Promise.reject(new ServiceError("shutting_down", "The store is closed"));
    return new Promise((resolve, reject) => {
      this.#queue.push({ operation, resolve, reject });
      // The write starts in a microtask, so that all calls of this tick share a commit.
      queueMicrotask(() => void this.#write());
    });
  }

  /** Closes the lane after a last attempt to write the kept operations. If it fails, they are lost, as in a crash. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#retry?.cancel();
    this.#retry = null;
    void this.#write();
    if (this.#isWriting) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    for (const { reject } of this.#queue.splice(0))
      reject(new Error(`The store was closed before it could write: ${this.#fault}`));
    await this.#connection?.end();
  }

  async #write(): Promise<void> {
    if (this.#isWriting || this.#retry !== null) return;
    this.#isWriting = true;
    let isUp = true;
    // The loop continues during a fault even without operations, to detect that the server is back.
    while (isUp && (this.#queue.length > 0 || this.#fault !== null)) {
      const batch = this.#queue.splice(0, this.#singles > 0 ? 1 : this.#batchSize);
      this.#singles = Math.max(0, this.#singles - 1);
      this.#inFlight = batch.length;
      // oxlint-disable-next-line no-await-in-loop -- A connection runs one commit at a time.
      isUp = await this.#writeBatch(batch);
      this.#inFlight = 0;
    }
    this.#isWriting = false;
    this.#onIdle?.();
  }

  /** Writes operations in one commit. Resolves with false if the server is not writable. */
  async #writeBatch(batch: readonly Queued[]): Promise<boolean> {
    let connection: WriterConnection;
    try {
      connection = this.#connection ??= await this.#connect();
    } catch (error) {
      // A refused connection always means that the server is unavailable.
      this.#keep(batch, findStorageFault(error) ?? String(error), error);
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
      const fault = findStorageFault(error);
      if (fault === null) {
        this.#refuse(batch, error);
        return true;
      }
      this.#batchSize = Math.max(1, Math.floor(batch.length / 2));
      // The operations may have been applied. A repeat then returns the result of the first time.
      const repeats = batch.map((queued): Queued => ({ ...queued, isRepeat: true }));
      this.#keep(repeats, fault, error);
      return false;
    }
    this.#setFault(null);
    this.#conflicts = 0;
    this.#batchSize = Math.min(MAX_OPERATIONS, this.#batchSize + BATCH_GROWTH);
    for (const [index, { operation, resolve, reject }] of batch.entries()) {
      const refusal = refusalIn(operation, results[index]);
      if (refusal === null) resolve(results[index]);
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

  /** Rejects a faulty operation. Several operations are queued again one by one, so that only the faulty ones fail. */
  #refuse(batch: readonly Queued[], error: unknown): void {
    if (batch.length === 1) return batch[0]?.reject(error);
    this.#queue.unshift(...batch);
    this.#singles = batch.length;
    return undefined;
  }

  async #connect(): Promise<WriterConnection> {
    let opened: WriterConnection | null = null;
    opened = await this.#open(this.#name, () => {
      // A newer connection may have replaced this one.
      if (this.#connection === opened) this.#connection = null;
    });
    return opened;
  }

  /** Puts kept operations back at the head of the queue, rejects the others, and schedules a retry. */
  #keep(batch: readonly Queued[], fault: string, error: unknown): void {
    // The connection is replaced because the server may still run its last statement.
    void this.#connection?.end();
    this.#connection = null;
    const queue = [...batch, ...this.#queue];
    this.#queue = queue.filter(({ operation: [kind] }) => KEPT_WRITES.has(kind));
    this.#singles = 0;
    this.#setFault(fault);
    const refusal = new ServiceError("storage_unavailable", `Storage is unavailable: ${fault}`, { cause: error });
    for (const { operation, reject } of queue) if (!KEPT_WRITES.has(operation[0])) reject(refusal);
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
