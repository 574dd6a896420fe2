import { parentPort } from "node:worker_threads";
import type Database from "better-sqlite3";
import { stepNamed } from "../../all-steps.ts";
import { runBody } from "../../steps/steps.ts";
import { openForReading } from "./connection.ts";
import type { StepOperation } from "./operations.ts";
import { toFailure, type Failure } from "./worker-errors.ts";
import { prepareOnce, SqliteTx } from "./sqlite-tx.ts";

/** Messages to the reader thread, which runs this file so that an expensive page delays only other pages. */
export type ToReader =
  /** The first message of a thread, and the first after a `close`. */
  | { readonly kind: "open"; readonly path: string }
  | { readonly kind: "read"; readonly read: StepOperation }
  | { readonly kind: "close" };
/** Replies of the reader thread, in the order of the reads. */
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

/** Runs a step. Later messages wait for it, because every promise that a step awaits is already resolved. */
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
    return { failure: toFailure(error) };
  }
}

/** Returns the open database. It is opened with the first read, so that a failing disk fails only that read. */
function open() {
  if (path === null) throw new Error("Expected an open message before the first read");
  if (opened === null) {
    const db = openForReading(path);
    opened = { db, tx: new SqliteTx(prepareOnce(db), null) };
  }
  return opened;
}
