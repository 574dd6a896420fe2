import { parentPort } from "node:worker_threads";
import type Database from "better-sqlite3";
import { stepNamed } from "../../all-steps.ts";
import { runBody } from "../../steps.ts";
import { openForReading } from "./connection.ts";
import { isStep, type StepOperation } from "./operations.ts";
import { failureOf, type Failure } from "./worker-errors.ts";
import { pageReads, type PageRead, type PageReads } from "./page-reads.ts";
import { PreparedStatements, SqliteTx } from "./sqlite-tx.ts";

/** This file runs in a worker thread, so that an expensive page delays only other pages. */
export type ToReader =
  /** Comes first, and again after `close`. */
  | { readonly kind: "open"; readonly path: string }
  | { readonly kind: "read"; readonly read: PageRead | StepOperation }
  | { readonly kind: "close" };
/** Answers come in the order of the reads. */
export type FromReader = { readonly value: unknown } | { readonly failure: Failure } | { readonly isClosed: true };

interface OpenDatabase {
  readonly db: Database.Database;
  readonly reads: PageReads;
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

async function answer(read: PageRead | StepOperation): Promise<FromReader> {
  try {
    const { reads, tx } = open();
    if (isStep(read)) return { value: await runBody(stepNamed(read[0]), tx, read[1]) };
    const [kind, args] = read;
    // `PageRead` pairs each kind with its arguments; TypeScript cannot follow that through an index.
    return { value: (reads[kind] as (args: PageRead[1]) => unknown)(args) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** Opened by a read, which fails alone when the disk does: the next one tries again. */
function open(): OpenDatabase {
  if (path === null) throw new Error("No database was named");
  if (opened === null) {
    const db = openForReading(path);
    opened = { db, reads: pageReads(db), tx: new SqliteTx(new PreparedStatements(db), null) };
  }
  return opened;
}
