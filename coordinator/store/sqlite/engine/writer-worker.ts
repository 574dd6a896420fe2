import { parentPort, workerData } from "node:worker_threads";
import { runAnswering, TransactionRunner, type RunAnswer } from "./transaction-runner.ts";
import { openForWriting } from "./connection.ts";
import type { Operation } from "./operations.ts";
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
const db = openForWriting(path);
const runner = new TransactionRunner(db);
port.on("message", (message: ToWriter) => {
  if (message.kind === "run") {
    port.postMessage(runAnswering(runner, message.operations) satisfies FromWriter);
    return;
  }
  if (message.kind === "truncateLog") {
    port.postMessage({ isLogEmpty: truncateLog(db) } satisfies FromWriter);
    return;
  }
  db.close();
  port.close();
});
