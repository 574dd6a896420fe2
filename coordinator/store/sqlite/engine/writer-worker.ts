import { parentPort } from "node:worker_threads";
import type Database from "better-sqlite3";
import { TransactionRunner, type TransactionAnswer } from "./transaction-runner.ts";
import { openForWriting } from "./connection.ts";
import type { Operation } from "./operations.ts";
import { truncateLog } from "./truncate-log.ts";

/** This file runs in a worker thread. It is the only writer of the process, so that no request waits for a disk. */
export type ToWriter =
  /** Comes first, and again after `close`. */
  | { readonly kind: "open"; readonly path: string }
  | { readonly kind: "run"; readonly operations: readonly Operation[] }
  | { readonly kind: "truncateLog" | "close" };
export interface RunAnswer extends TransactionAnswer {
  /** Those that failed because nothing can be written now, to be tried again. */
  readonly unwritten: readonly [index: number, operation: Operation][];
}
export type FromWriter = RunAnswer | { readonly isLogEmpty: boolean } | { readonly isClosed: true };

interface OpenDatabase {
  readonly db: Database.Database;
  readonly runner: TransactionRunner;
}

const port = parentPort;
if (port === null) throw new Error("writer-worker runs as a worker thread only");
let opened: OpenDatabase | null = null;
port.on("message", (message: ToWriter) => {
  if (message.kind === "open") {
    const db = openForWriting(message.path);
    opened = { db, runner: new TransactionRunner(db) };
    return;
  }
  if (opened === null) throw new Error(`No database is open for ${message.kind}`);
  const { db, runner } = opened;
  if (message.kind === "run") {
    port.postMessage(run(runner, message.operations) satisfies FromWriter);
    return;
  }
  if (message.kind === "truncateLog") {
    port.postMessage({ isLogEmpty: truncateLog(db) } satisfies FromWriter);
    return;
  }
  db.close();
  opened = null;
  port.postMessage({ isClosed: true } satisfies FromWriter);
});

function run(runner: TransactionRunner, operations: readonly Operation[]): RunAnswer {
  const answer = runner.run(operations);
  const unwritten: [number, Operation][] = [];
  for (const [index, { kind }] of answer.failures) {
    const operation = operations[index];
    if (kind === "storage" && operation !== undefined) unwritten.push([index, operation]);
  }
  return { ...answer, unwritten };
}
