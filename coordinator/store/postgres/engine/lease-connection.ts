import pg from "pg";
import { ServiceError } from "../../../../shared/errors.ts";
import { clientConfig, PLANS, sessionOn, type Session } from "./connection.ts";
import { storageErrorOf } from "./storage-fault.ts";

/** The connection for the lease, which must not wait behind other reads. One call at a time; it is opened by the first. */
export class LeaseConnection {
  readonly #config: pg.ClientConfig;
  #client: pg.Client | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** `maxMs`: longest time of each step; absent: as for other connections. */
  constructor(address: string, maxMs?: number) {
    const common = clientConfig(address, "atoll lease");
    this.#config = maxMs === undefined ? common : { ...common, ...limitsOf(maxMs) };
  }

  /** Statements commit one by one. @throws {ServiceError} `storage_unavailable`; the next call opens another connection. */
  use<T>(call: (session: Session) => Promise<T>): Promise<T> {
    const done = this.#last.then(() => this.#run(call));
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when the calls under way are done; new ones reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    await this.#client?.end().catch(() => undefined);
  }

  async #run<T>(call: (session: Session) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new ServiceError("shutting_down", "The store is closed");
    try {
      this.#client ??= await this.#connect();
      return await call(sessionOn(this.#client));
    } catch (error) {
      // It may still be busy with the statement.
      void this.#client?.end().catch(() => undefined);
      this.#client = null;
      throw storageErrorOf(error);
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#config);
    // The next call opens another.
    const forget = (): void => {
      if (this.#client === client) this.#client = null;
    };
    client.on("error", forget);
    client.on("end", forget);
    try {
      await client.connect();
      await client.query(PLANS);
      return client;
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
  }
}

/** The server gives up first, so that the next connection does not meet locks of a statement that nobody waits for. */
function limitsOf(maxMs: number): pg.ClientConfig {
  const serverMs = Math.ceil(maxMs * 0.8);
  return {
    connectionTimeoutMillis: maxMs,
    query_timeout: maxMs,
    statement_timeout: serverMs,
    lock_timeout: serverMs,
  };
}
