import { parentPort, workerData } from "node:worker_threads";
import type Database from "better-sqlite3";
import { openForReading } from "./connection.ts";
import { failureOf, type Failure } from "./worker-errors.ts";
import { pageReads, type PageRead } from "./page-reads.ts";

/** This file runs in a worker thread, so that an expensive page delays only other pages. */
export interface ReaderWorkerData {
  readonly path: string;
}
export type ToReader = { readonly kind: "read"; readonly read: PageRead } | { readonly kind: "close" };
/** Answers come in the order of the reads. */
export type FromReader = { readonly value: unknown } | { readonly failure: Failure };

const port = parentPort;
if (port === null) throw new Error("reader-worker runs as a worker thread only");
const { path } = workerData as ReaderWorkerData;
let db: Database.Database | null = null;
let reads: ReturnType<typeof pageReads> | null = null;
port.on("message", (message: ToReader) => {
  if (message.kind === "read") {
    port.postMessage(answer(message.read) satisfies FromReader);
    return;
  }
  db?.close();
  port.close();
});

function answer([kind, args]: PageRead): FromReader {
  try {
    // Opened by a read, which fails alone when the disk does: the next one tries again.
    db ??= openForReading(path);
    reads ??= pageReads(db);
    // `PageRead` pairs each kind with its arguments; TypeScript cannot follow that through an index.
    return { value: (reads[kind] as (args: PageRead[1]) => unknown)(args) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}
