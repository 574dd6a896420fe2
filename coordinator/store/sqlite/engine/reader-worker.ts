import { parentPort } from "node:worker_threads";
import type Database from "better-sqlite3";
import { stepNamed } from "../../all-steps.ts";
import { runBody } from "../../steps/steps.ts";
import { openForReading } from "./connection.ts";
import type { StepOperation } from "./operations.ts";
import { failureOf, type Failure } from "./worker-errors.ts";
import { PreparedStatements, SqliteTx } from "./sqlite-tx.ts";

/** This file runs in a worker thread, so that an expensive page delays only other pages. */
export type ToReader =
  /** Comes first, and again after `close`. */
  | { readonly kind: "open"; readonly path: string }
  | { readonly kind: "read"; readonly read: StepOperation }
  | { readonly kind: "close" };
/** Answers come in the order of the reads. */
export type FromReader = { readonly value: unknown } | { readonly failure: Failure } | { readonly isClosed: true };

interface OpenDatabase {
  readonly db: Database.Database;
  readonly tx: SqliteTx;
}

const port = parentPort;
if (port === null) throw new Error("reader-worker runs as a worker thread only");
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

/** The messages that come after this one wait, as each promise of a step is resolved already. */
async function inSnapshot<T>(database: Database.Database, run: () => Promise<T>): Promise<T> {
  database.exec("BEGIN");
  try {
    return await run();
  } finally {
    if (database.inTransaction) database.exec("COMMIT");
  }
}

/** Opened by a read, which fails alone when the disk does: the next one tries again. */
function open(): OpenDatabase {
  if (path === null) throw new Error("No database was named");
  if (opened === null) {
    const db = openForReading(path);
    opened = { db, tx: new SqliteTx(new PreparedStatements(db), null) };
  }
  return opened;
}
