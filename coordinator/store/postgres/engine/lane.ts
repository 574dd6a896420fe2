import pg from "pg";
import type { Clock, Timer } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { jobFunctions } from "../operations/job-functions.ts";
import { isKept, partiesOf, resultOf, type Operation } from "../operations/operations.ts";
import { clientConfig } from "./connection.ts";
import { storageErrorOf, storageFaultOf } from "./storage-fault.ts";

/** Operations in one transaction; bounds how long the first one waits for the last. */
const MAX_OPERATIONS = 256;
/** Time between tries while nothing can be written. */
const RETRY_MS = 500;
/** Most operations that are kept; output is bounded by its own budgets. With more the lane rejects. */
const MAX_KEPT = 50_000;
const RUN = { name: "run", text: "SELECT pg_temp.run($1::jsonb, $2::text[]) AS results" } as const;
/** Functions keep the plans of their first runs, when tables may be empty: each finds its rows by an index. */
const PLANS = "SET enable_seqscan = off; SET jit = off";

interface Queued {
  readonly operation: Operation;
  /** It was sent before, and its answer was lost: it may be done. */
  readonly isRepeat?: true;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A connection that writes operations in call order, all that have queued in one commit. */
export class Lane {
  readonly #address: string;
  readonly #name: string;
  readonly #ownerId: string;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #onFault: () => void;
  #queue: Queued[] = [];
  #client: pg.Client | null = null;
  #isWriting = false;
  #fault: string | null = null;
  #retry: Timer | null = null;
  #onEmpty: (() => void) | null = null;
  #isClosing = false;
  #commits = 0;

  constructor(
    { address, ownerId }: { readonly address: string; readonly ownerId: string },
    index: number,
    clock: Pick<Clock, "schedule">,
    onFault: () => void,
  ) {
    this.#address = address;
    this.#ownerId = ownerId;
    this.#name = `atoll writer ${index + 1}`;
    this.#clock = clock;
    this.#onFault = onFault;
  }

  get commits(): number {
    return this.#commits;
  }

  /** Why nothing can be written now. */
  get fault(): string | null {
    return this.#fault;
  }

  add(operation: Operation): Promise<unknown> {
    if (this.#isClosing) return Promise.reject(new ServiceError("shutting_down", "The store is closed"));
    if (this.#queue.length >= MAX_KEPT) return Promise.reject(new Error(`${this.#fault}, and ${MAX_KEPT} writes wait`));
    return new Promise((resolve, reject) => {
      this.#queue.push({ operation, resolve, reject });
      // In a microtask, so that the calls of one turn share a commit.
      queueMicrotask(() => void this.#write());
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#retry !== null) {
      this.#retry.cancel();
      this.#tryAgain();
    }
    await this.#write();
    if (this.#isWriting) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
    for (const { reject } of this.#queue.splice(0)) reject(new Error(`${this.#fault}, and the store is closed`));
    await this.#client?.end().catch(() => undefined);
  }

  async #write(): Promise<void> {
    if (this.#isWriting || this.#retry !== null || this.#queue.length === 0) return;
    this.#isWriting = true;
    while (this.#queue.length > 0 && this.#retry === null) {
      // oxlint-disable-next-line no-await-in-loop -- One commit after the other.
      await this.#writeBatch(this.#queue.splice(0, MAX_OPERATIONS));
    }
    this.#isWriting = false;
    this.#onEmpty?.();
  }

  async #writeBatch(batch: readonly Queued[]): Promise<void> {
    try {
      const results = await this.#run(batch);
      this.#setFault(null);
      for (const [index, { operation, resolve, reject }] of batch.entries()) {
        const { value, refusal } = resultOf(operation, results[index]);
        if (refusal === null) resolve(value);
        else reject(refusal);
      }
    } catch (error) {
      const fault = storageFaultOf(error);
      if (fault !== null) return this.#keep(batch, fault, error);
      const [only] = batch;
      if (batch.length === 1) return only?.reject(error);
      // So that only the faulty ones fail.
      for (const each of batch) await this.#writeBatch([each]);
    }
    return undefined;
  }

  async #run(batch: readonly Queued[]): Promise<readonly unknown[]> {
    const client = (this.#client ??= await this.#connect());
    const operations = batch.map(({ operation }) => operation);
    const sent = batch.map(({ operation, isRepeat }) => (isRepeat ? [...operation, true] : operation));
    const values = [JSON.stringify(sent), partiesOf(operations)];
    const { rows } = await client.query<{ results: unknown[] }>({ ...RUN, values });
    this.#commits += 1;
    return rows[0]?.results ?? [];
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(clientConfig(this.#address, this.#name));
    // A connection that ends is replaced by the next write.
    client.on("error", () => (this.#client = null));
    client.on("end", () => (this.#client = null));
    try {
      await client.connect();
      await client.query(PLANS);
      await client.query(jobFunctions(this.#ownerId));
      return client;
    } catch (error) {
      // A server that refuses only the functions, as a standby does, would keep each of these connections.
      void client.end().catch(() => undefined);
      throw error;
    }
  }

  /** Puts back what has happened already, in its order, and refuses the rest. */
  #keep(batch: readonly Queued[], fault: string, error: unknown): void {
    // What the server still does with the statement is unknown: another connection asks again, and what was done then is no fault.
    const lost = this.#client;
    this.#client = null;
    void lost?.end().catch(() => undefined);
    const repeats = batch.map((queued): Queued => ({ ...queued, isRepeat: true }));
    const refused = [...batch, ...this.#queue].filter(({ operation: [kind] }) => !isKept(kind));
    this.#queue = [...repeats, ...this.#queue].filter(({ operation: [kind] }) => isKept(kind));
    this.#setFault(fault);
    for (const { reject } of refused) reject(storageErrorOf(error));
    if (!this.#isClosing) this.#retry = this.#clock.schedule(RETRY_MS, () => this.#tryAgain());
  }

  #tryAgain(): void {
    this.#retry = null;
    if (this.#queue.length > 0) return void this.#write();
    // Nobody else would find out that the server is back.
    this.#connect().then(
      (client) => {
        this.#client = client;
        this.#setFault(null);
      },
      () => {
        if (!this.#isClosing) this.#retry = this.#clock.schedule(RETRY_MS, () => this.#tryAgain());
      },
    );
  }

  #setFault(fault: string | null): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#onFault();
  }
}
