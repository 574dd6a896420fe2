import pg from "pg";
import { ServiceError } from "../../../../shared/errors.ts";
import { clientConfig, PLANS, sessionOn, type Session } from "./connection.ts";
import { storageErrorOf } from "./storage-fault.ts";

/**
 * The connection for the lease, which must not wait behind other reads. Runs one call at a time and connects with the
 * first. @param maxMs time limit of each step; absent for the limits of other connections.
 */
export function leaseConnection(address: string, maxMs?: number) {
  const config = { ...clientConfig(address, "atoll lease"), ...(maxMs === undefined ? {} : limitsOf(maxMs)) };
  let client: pg.Client | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  async function run<T>(call: (session: Session) => Promise<T>): Promise<T> {
    if (isClosed) throw new ServiceError("shutting_down", "The store is closed");
    try {
      client ??= await connect();
      return await call(sessionOn(client));
    } catch (error) {
      // The connection may still be busy with the statement.
      void client?.end().catch(() => undefined);
      client = null;
      throw storageErrorOf(error);
    }
  }

  async function connect(): Promise<pg.Client> {
    const opened = new pg.Client(config);
    // The next call opens a new connection.
    const forget = (): void => {
      if (client === opened) client = null;
    };
    opened.on("error", forget);
    opened.on("end", forget);
    try {
      await opened.connect();
      await opened.query(PLANS);
      return opened;
    } catch (error) {
      void opened.end().catch(() => undefined);
      throw error;
    }
  }

  return {
    /** Statements commit one by one. @throws {ServiceError} `storage_unavailable`; the next call opens a new connection. */
    use<T>(call: (session: Session) => Promise<T>): Promise<T> {
      const done = last.then(() => run(call));
      last = done.catch(() => undefined);
      return done;
    },

    /** Resolves when the calls in flight have finished. New calls reject. */
    async close(): Promise<void> {
      isClosed = true;
      await last;
      await client?.end().catch(() => undefined);
    },
  };
}

/** The server gives up first, so that an abandoned statement holds no locks that the next connection needs. */
function limitsOf(maxMs: number): pg.ClientConfig {
  const serverMs = Math.ceil(maxMs * 0.8);
  return {
    connectionTimeoutMillis: maxMs,
    query_timeout: maxMs,
    statement_timeout: serverMs,
    lock_timeout: serverMs,
  };
}
