import { parentPort } from "node:worker_threads";
import type Database from "better-sqlite3";
import { stepNamed } from "../../all-steps.ts";
import { runBody } from "../../steps/steps.ts";
import { openForReading } from "./connection.ts";
import type { StepOperation } from "./operations.ts";
import { failureOf, type Failure } from "./worker-errors.ts";
import { prepareOnce, SqliteTx } from "./sqlite-tx.ts";

/** Messages to the thread of this file, which exists so that an expensive page delays only other pages. */
export type ToReader =
  /** Sent first, and again after `close`. */
  | { readonly kind: "open"; readonly path: string }
  | { readonly kind: "read"; readonly read: StepOperation }
  | { readonly kind: "close" };
/** Replies of the thread, in the order of the reads. */
export type FromReader = { readonly value: unknown } | { readonly failure: Failure } | { readonly isClosed: true };

const port = parentPort;
if (port === null) throw new Error("reader-worker must run as a worker thread");
let path: string | null = null;
let opened: { readonly db: Database.Database; readonly tx: SqliteTx } | null = null;
port.on("message", (message: ToReader) => {
  if (message.kind === "open") {
    ({ path } = message);
    return;
  }
  if (message.kind === "read") {
    void run(message.read).then((reply) => port.postMessage(reply satisfies FromReader));
    return;
  }
  opened?.db.close();
  opened = null;
  port.postMessage({ isClosed: true } satisfies FromReader);
});

/** Later messages wait, since each promise of a step is already resolved. */
async function run([name, args]: StepOperation): Promise<FromReader> {
  try {
    const { db, tx } = open();
    const step = stepNamed(name);
    if (step.isSnapshot) db.exec("BEGIN");
    try {
      return { value: await runBody(step, tx, args) };
    } finally {
      if (db.inTransaction) db.exec("COMMIT");
    }
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** Opens the database with the first read. If the disk fails, only this read fails. */
function open() {
  if (path === null) throw new Error("Expected an open message before the first read");
  if (opened === null) {
    const db = openForReading(path);
    opened = { db, tx: new SqliteTx(prepareOnce(db), null) };
  }
  return opened;
}
