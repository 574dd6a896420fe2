import pg from "pg";
import { ServiceError } from "../../../../shared/errors.ts";
import { clientConfig, PLANS, sessionOn, type Session } from "./connection.ts";
import { toStorageError } from "./storage-fault.ts";

/**
 * Returns a separate connection for lease steps, so that they never wait behind other queries. It runs one call at a
 * time, and connects at the first call.
 * @param maxMs Time limit of each call. By default, the limits of the other connections apply.
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
      // The connection is replaced because it may still be busy with the statement.
      void client?.end().catch(() => undefined);
      client = null;
      throw toStorageError(error);
    }
  }

  async function connect(): Promise<pg.Client> {
    const opened = new pg.Client(config);
    // After a loss, the next call opens a new connection.
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
    /** Runs a call without a transaction. @throws {ServiceError} `storage_unavailable`; the next call reconnects. */
    use<T>(call: (session: Session) => Promise<T>): Promise<T> {
      const done = last.then(() => run(call));
      last = done.catch(() => undefined);
      return done;
    },

    /** Rejects new calls and resolves when those in flight have finished. */
    async close(): Promise<void> {
      isClosed = true;
      await last;
      await client?.end().catch(() => undefined);
    },
  };
}

/**
 * Gives the server less time than the client, so that no abandoned statement holds locks that the next connection
 * needs.
 */
function limitsOf(maxMs: number): pg.ClientConfig {
  const serverMs = Math.ceil(maxMs * 0.8);
  return {
    connectionTimeoutMillis: maxMs,
    query_timeout: maxMs,
    statement_timeout: serverMs,
    lock_timeout: serverMs,
  };
}
