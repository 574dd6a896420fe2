import pg from "pg";
import type { Clock } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { clientConfig, PLANS, sessionOn, type Session } from "./connection.ts";
import { isTransient, storageErrorOf } from "./storage-fault.ts";

/** Connections for reads and for writes that are not in batches. */
const MAX_CONNECTIONS = 8;
/** A new connection, or a free one in a burst: a thousand Islands that come at once wait for eight connections. */
const MAX_WAIT_MS = 15_000;
const MAX_ATTEMPTS = 3;
/** Between tries of what must be done. */
const RETRY_MS = 500;

/** How stores write and read. */
export type Transactions = Pick<Database, "use" | "transact">;

/** The pool. New calls reject from when it begins to close; it ends when those in flight are done. */
export class Database {
  readonly #pool: pg.Pool;
  readonly #session: Session;
  readonly #clock: Pick<Clock, "sleep">;
  readonly #closing = new AbortController();
  #inFlight = 0;
  #onIdle: (() => void) | null = null;
  #closed: Promise<void> | null = null;

  constructor(address: string, clock: Pick<Clock, "sleep">, onLost: (error: Error) => void) {
    this.#clock = clock;
    const options = {
      ...clientConfig(address, "atoll"),
      connectionTimeoutMillis: MAX_WAIT_MS,
      max: MAX_CONNECTIONS,
      allowExitOnIdle: true,
      onConnect: usePlans,
    };
    this.#pool = new pg.Pool(options);
    // Of a connection that no call has: the pool replaces it.
    this.#pool.on("error", onLost);
    this.#session = sessionOn(this.#pool);
  }

  /** Runs a call of the store. Its statements commit one by one, each on any connection. @throws {ServiceError} `storage_unavailable` */
  async use<T>(call: (session: Session) => Promise<T>): Promise<T> {
    if (this.#closed !== null) throw new ServiceError("shutting_down", "The store is closed");
    this.#inFlight += 1;
    try {
      return await call(this.#session);
    } catch (error) {
      throw storageErrorOf(error);
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#onIdle?.();
    }
  }

  /** Runs a call of this object, and again while the server is away. */
  async untilAvailable<T>(run: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== "storage_unavailable") throw error;
      }
      // Ends with the store, whose next call is refused.
      await this.#clock.sleep(RETRY_MS, this.#closing.signal).catch(() => undefined);
    }
  }

  /** Like {@link use}, in one transaction, which is tried again if it lost against another one. */
  transact<T>(call: (session: Session) => Promise<T>, isolation = "READ COMMITTED"): Promise<T> {
    return this.use(() => untilWon(() => this.#transactOnce(call, isolation)));
  }

  /** Resolves when the calls under way are done and all connections are closed. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    this.#closing.abort();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this.#pool.end();
  }

  async #transactOnce<T>(call: (session: Session) => Promise<T>, isolation: string): Promise<T> {
    const client = await this.#pool.connect();
    let fault: Error | undefined;
    // The pool listens only to connections that nobody has; an error without a listener would end the process.
    const onLost = (error: Error): void => void (fault = error);
    client.on("error", onLost);
    try {
      await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
      const result = await call(sessionOn(client));
      const { command } = await client.query("COMMIT");
      if (command !== "COMMIT") throw new Error(`The transaction ended with ${command}`);
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch((lost: Error) => (fault = lost));
      throw error;
    } finally {
      client.off("error", onLost);
      // A connection that cannot even roll back is not used again.
      client.release(fault);
    }
  }
}

async function untilWon<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isTransient(error)) throw error;
    }
  }
}

/** The pool waits for it, which its types do not say. A connection that is lost meanwhile fails the call that it is for. */
async function usePlans(client: pg.ClientBase): Promise<void> {
  await client.query(PLANS);
}
