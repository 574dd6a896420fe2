import { parentPort } from "node:worker_threads";
import type Database from "better-sqlite3";
import { openForReading } from "./connection.ts";
import { failureOf, type Failure } from "./worker-errors.ts";
import { pageReads, type PageRead, type PageReads } from "./page-reads.ts";

/** This file runs in a worker thread, so that an expensive page delays only other pages. */
export type ToReader =
  /** Comes first, and again after `close`. */
  | { readonly kind: "open"; readonly path: string }
  | { readonly kind: "read"; readonly read: PageRead }
  | { readonly kind: "close" };
/** Answers come in the order of the reads. */
export type FromReader = { readonly value: unknown } | { readonly failure: Failure } | { readonly isClosed: true };

interface OpenDatabase {
  readonly db: Database.Database;
  readonly reads: PageReads;
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
    port.postMessage(answer(message.read) satisfies FromReader);
    return;
  }
  opened?.db.close();
  opened = null;
  port.postMessage({ isClosed: true } satisfies FromReader);
});

function answer([kind, args]: PageRead): FromReader {
  try {
    const { reads } = open();
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
    opened = { db, reads: pageReads(db) };
  }
  return opened;
}
