import { parentPort, workerData } from "node:worker_threads";
import type Database from "better-sqlite3";
import { runAnswering, TransactionRunner, type RunAnswer, type TransactionAnswer } from "./transaction-runner.ts";
import { openForWriting } from "./connection.ts";
import type { Operation } from "./operations.ts";
import { failureOf } from "./worker-errors.ts";
import { truncateLog } from "./truncate-log.ts";

/** This file runs in a worker thread. It is the only writer of the process, so that no request waits for a disk. */
export interface WriterWorkerData {
  readonly path: string;
}
export type ToWriter =
  | { readonly kind: "run"; readonly operations: readonly Operation[] }
  | { readonly kind: "truncateLog" | "close" };
export type FromWriter = RunAnswer | { readonly isLogEmpty: boolean };

const port = parentPort;
if (port === null) throw new Error("writer-worker runs as a worker thread only");
const { path } = workerData as WriterWorkerData;
let db: Database.Database | null = null;
let runner: TransactionRunner | null = null;
port.on("message", (message: ToWriter) => {
  if (message.kind === "run") {
    port.postMessage(runAnswering({ run: runTogether }, message.operations) satisfies FromWriter);
    return;
  }
  if (message.kind === "truncateLog") {
    port.postMessage({ isLogEmpty: db !== null && truncateLog(db) } satisfies FromWriter);
    return;
  }
  db?.close();
  port.close();
});

/** Opens the database first, if its disk did not permit that before. */
function runTogether(operations: readonly Operation[]): TransactionAnswer {
  try {
    db ??= openForWriting(path);
    runner ??= new TransactionRunner(db);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "storage") throw error;
    return { values: [], failures: operations.map((_, index) => [index, failure]), commits: 0 };
  }
  return runner.run(operations);
}
