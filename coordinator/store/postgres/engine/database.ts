import pg from "pg";
import type { Clock } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { clientConfig, PLANS, sessionOn, type Session } from "./connection.ts";
import { isTransient, storageErrorOf } from "./storage-fault.ts";

/** Connections for reads and for writes outside of batches. */
const MAX_CONNECTIONS = 8;
/** Maximum wait for a connection: in a burst, a thousand Islands that connect at once share eight connections. */
const MAX_WAIT_MS = 15_000;
const MAX_ATTEMPTS = 3;
/** Delay between retries of operations that must succeed. */
const RETRY_MS = 500;

/** Interface for reads and writes of stores. */
export type Transactions = Pick<Database, "use" | "transact">;

/** Connection pool. Rejects new calls as soon as it begins to close, and closes when those in flight have finished. */
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
    // Error of an idle connection, which the pool replaces.
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

  /** Runs a call of this object, and retries while the server is unavailable. */
  async untilAvailable<T>(run: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== "storage_unavailable") throw error;
      }
      // Aborted when the store closes; the next call is then refused.
      await this.#clock.sleep(RETRY_MS, this.#closing.signal).catch(() => undefined);
    }
  }

  /** Runs a call like {@link use}, in one transaction, which is retried after a conflict with another one. */
  transact<T>(call: (session: Session) => Promise<T>, isolation = "READ COMMITTED"): Promise<T> {
    return this.use(() => untilWon(() => this.#transactOnce(call, isolation)));
  }

  /** Resolves when the calls in flight have finished and all connections are closed. */
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
    // The pool only listens to idle connections; an error without a listener would end the process.
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
      // A connection that cannot roll back is not reused.
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

/**
 * Prepares a new connection. The pool awaits it, although its types do not declare that. If the connection is lost here, the call that
 * needs it fails.
 */
async function usePlans(client: pg.ClientBase): Promise<void> {
  await client.query(PLANS);
}
