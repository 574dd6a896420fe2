import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Clock } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { clientConfig, PLANS, sessionOn, type Session } from "./connection.ts";
import { isTransient, toStorageError } from "./storage-fault.ts";

/** Maximum number of pooled connections, for reads and for writes outside of batches. */
const MAX_CONNECTIONS = 8;
/** Maximum wait for a connection: a thousand Islands that connect at once share eight connections. */
const MAX_WAIT_MS = 15_000;
/** Maximum number of attempts of a transaction that conflicts with other transactions. */
const MAX_ATTEMPTS = 3;
/** Delay before the next attempt. An immediate one can take the rows again before the other transaction wakes. */
const CONFLICT_DELAY_MS = 50;
/** Delay between attempts of a `kept` step while the server is unavailable. */
const RETRY_MS = 500;

export type Database = ReturnType<typeof openDatabase>;

/** Opens a pool of connections. Once it starts to close, it rejects new calls and waits for those in flight. */
export function openDatabase(address: string, clock: Pick<Clock, "sleep">) {
  const options = {
    ...clientConfig(address, "atoll"),
    connectionTimeoutMillis: MAX_WAIT_MS,
    max: MAX_CONNECTIONS,
    allowExitOnIdle: true,
    onConnect: setPlans,
  };
  const pool = new pg.Pool(options);
  // The listener prevents an exit. The error concerns an idle connection, which the pool replaces.
  pool.on("error", () => {});
  const session = sessionOn(pool);
  const closing = new AbortController();
  let inFlight = 0;
  let onIdle: (() => void) | null = null;
  let closed: Promise<void> | null = null;

  async function transactOnce<T>(call: (session: Session) => Promise<T>, isolation: string): Promise<T> {
    const client = await pool.connect();
    let fault: Error | undefined;
    // The pool listens only to idle connections, and an error event without a listener would end the process.
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
      // The pool discards a connection that failed or could not roll back.
      client.release(fault);
    }
  }

  /**
   * Runs a call outside of a transaction: each statement may use another connection.
   * @throws {ServiceError} `storage_unavailable`
   */
  async function use<T>(call: (session: Session) => Promise<T>): Promise<T> {
    if (closed !== null) throw new ServiceError("shutting_down", "The store is closed");
    inFlight += 1;
    try {
      return await call(session);
    } catch (error) {
      throw toStorageError(error);
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

    /** Runs a call in one transaction, retried after a conflict. @throws {ServiceError} `storage_unavailable` */
    transact: <T>(call: (session: Session) => Promise<T>, isolation = "READ COMMITTED"): Promise<T> =>
      use(() => retryConflicts(() => transactOnce(call, isolation))),

    /** Runs a call of `use` or `transact`, and retries it while the server is unavailable. */
    async untilAvailable<T>(run: () => Promise<T>): Promise<T> {
      for (;;) {
        try {
          return await run();
        } catch (error) {
          if (!(error instanceof ServiceError) || error.code !== "storage_unavailable") throw error;
        }
        // Closing the store aborts the wait; the next call is then refused.
        await clock.sleep(RETRY_MS, closing.signal).catch(() => undefined);
      }
    },

    /** Closes all connections once the calls in flight have finished. */
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
    // oxlint-disable-next-line no-await-in-loop -- The next attempt depends on the failure of this one.
    await delay(CONFLICT_DELAY_MS);
  }
}

/** Sets the plans of a new connection. The pool awaits it, although its types do not say so. */
async function setPlans(client: pg.ClientBase): Promise<void> {
  await client.query(PLANS);
}
