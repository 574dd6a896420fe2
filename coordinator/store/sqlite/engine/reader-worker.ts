import { parentPort } from "node:worker_threads";
import type Database from "better-sqlite3";
import { stepNamed } from "../../all-steps.ts";
import { runBody } from "../../steps/steps.ts";
import { openForReading } from "./connection.ts";
import type { StepOperation } from "./operations.ts";
import { failureOf, type Failure } from "./worker-errors.ts";
import { PreparedStatements, SqliteTx } from "./sqlite-tx.ts";

/** Messages to the worker thread of this file, which exists so that an expensive page delays only other pages. */
export type ToReader =
  /** Sent first, and again after `close`. */
  | { readonly kind: "open"; readonly path: string }
  | { readonly kind: "read"; readonly read: StepOperation }
  | { readonly kind: "close" };
/** Replies of the thread, in the order of the reads. */
export type FromReader = { readonly value: unknown } | { readonly failure: Failure } | { readonly isClosed: true };

interface OpenDatabase {
  readonly db: Database.Database;
  readonly tx: SqliteTx;
}

const port = parentPort;
if (port === null) throw new Error("reader-worker must run as a worker thread");
let path: string | null = null;
let opened: OpenDatabase | null = null;
port.on("message", (message: ToReader) => {
  if (message.kind === "open") {
    ({ path } = message);
    return;
  }
  if (message.kind === "read") {
    void answer(message.read).then((answered) => port.postMessage(answered satisfies FromReader));
    return;
  }
  opened?.db.close();
  opened = null;
  port.postMessage({ isClosed: true } satisfies FromReader);
});

async function answer([name, args]: StepOperation): Promise<FromReader> {
  try {
    const { db, tx } = open();
    const step = stepNamed(name);
    const run = (): Promise<unknown> => runBody(step, tx, args);
    return { value: await (step.isSnapshot ? inSnapshot(db, run) : run()) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** Keeps later messages waiting, since each promise of a step is already resolved. */
async function inSnapshot<T>(database: Database.Database, run: () => Promise<T>): Promise<T> {
  database.exec("BEGIN");
  try {
    return await run();
  } finally {
    if (database.inTransaction) database.exec("COMMIT");
  }
}

/** Opens the database with the first read. If the disk fails, only this read fails, and the next one tries again. */
function open(): OpenDatabase {
  if (path === null) throw new Error("Expected an open message before the first read");
  if (opened === null) {
    const db = openForReading(path);
    opened = { db, tx: new SqliteTx(new PreparedStatements(db), null) };
  }
  return opened;
}
