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

export type Database = ReturnType<typeof openDatabase>;

/** Opens a pool. It rejects new calls as soon as it begins to close, and closes when those in flight have finished. */
export function openDatabase(address: string, clock: Pick<Clock, "sleep">) {
  const options = {
    ...clientConfig(address, "atoll"),
    connectionTimeoutMillis: MAX_WAIT_MS,
    max: MAX_CONNECTIONS,
    allowExitOnIdle: true,
    onConnect: setPlans,
  };
  const pool = new pg.Pool(options);
  // An idle connection, which the pool replaces.
  pool.on("error", () => {});
  const session = sessionOn(pool);
  const closing = new AbortController();
  let inFlight = 0;
  let onIdle: (() => void) | null = null;
  let closed: Promise<void> | null = null;

  async function transactOnce<T>(call: (session: Session) => Promise<T>, isolation: string): Promise<T> {
    const client = await pool.connect();
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

  /** Runs a call. Its statements commit one by one, each on any connection. @throws {ServiceError} `storage_unavailable` */
  async function use<T>(call: (session: Session) => Promise<T>): Promise<T> {
    if (closed !== null) throw new ServiceError("shutting_down", "The store is closed");
    inFlight += 1;
    try {
      return await call(session);
    } catch (error) {
      throw storageErrorOf(error);
    } finally {
      inFlight -= 1;
      if (inFlight === 0) onIdle?.();
    }
  }

  async function drain(): Promise<void> {
    if (inFlight > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    await pool.end();
  }

  return {
    use,

    /** Runs a call like `use`, in one transaction, which is retried after a conflict with another one. */
    transact: <T>(call: (session: Session) => Promise<T>, isolation = "READ COMMITTED"): Promise<T> =>
      use(() => retryConflicts(() => transactOnce(call, isolation))),

    /** Runs a call of this object, and retries while the server is unavailable. */
    async untilAvailable<T>(run: () => Promise<T>): Promise<T> {
      for (;;) {
        try {
          return await run();
        } catch (error) {
          if (!(error instanceof ServiceError) || error.code !== "storage_unavailable") throw error;
        }
        // Aborted when the store closes; the next call is then refused.
        await clock.sleep(RETRY_MS, closing.signal).catch(() => undefined);
      }
    },

    /** Resolves when the calls in flight have finished and all connections are closed. */
    close(): Promise<void> {
      closed ??= drain();
      closing.abort();
      return closed;
    },
  };
}

async function retryConflicts<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isTransient(error)) throw error;
    }
  }
}

/** The pool awaits it, although its types do not declare that. If the connection is lost here, the call that needs it fails. */
async function setPlans(client: pg.ClientBase): Promise<void> {
  await client.query(PLANS);
}
