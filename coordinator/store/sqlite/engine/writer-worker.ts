import { parentPort } from "node:worker_threads";
import Database from "better-sqlite3";
import {
  runForReply,
  type RunReply,
  type RunResult,
  transactionRunner,
  type TransactionRunner,
} from "./transaction-runner.ts";
import { openForWriting } from "./connection.ts";
import type { Operation } from "./operations.ts";
import { toFailure } from "./worker-errors.ts";

/** Messages to the writer thread, which runs this file. It is the only writer, so that no request waits for a disk. */
export type ToWriter =
  /** The first message of a thread, and the first after a `close`. */
  | { readonly kind: "open"; readonly path: string }
  | { readonly kind: "run"; readonly operations: readonly Operation[] }
  | { readonly kind: "truncateLog" | "close" };
export type FromWriter = RunReply | { readonly isLogEmpty: boolean } | { readonly isClosed: true };

const port = parentPort;
if (port === null) throw new Error("writer-worker must run as a worker thread");
let path: string | null = null;
let opened: { readonly db: Database.Database; readonly runner: TransactionRunner } | null = null;
port.on("message", (message: ToWriter) => {
  if (message.kind === "open") {
    ({ path } = message);
    return;
  }
  if (message.kind === "run") {
    void runForReply({ run }, message.operations).then((reply) => port.postMessage(reply satisfies FromWriter));
    return;
  }
  if (message.kind === "truncateLog") {
    port.postMessage({ isLogEmpty: opened !== null && truncateLog(opened.db) } satisfies FromWriter);
    return;
  }
  opened?.db.close();
  opened = null;
  port.postMessage({ isClosed: true } satisfies FromWriter);
});

/** Runs operations, after opening the database if a failing disk prevented that before. */
async function run(operations: readonly Operation[]): Promise<RunResult> {
  try {
    return await open().runner.run(operations);
  } catch (error) {
    const failure = toFailure(error);
    if (failure.kind !== "storage") throw error;
    return { values: [], failures: operations.map((_, index) => [index, failure]), commits: 0 };
  }
}

function open() {
  if (path === null) throw new Error("Expected an open message before the first run");
  if (opened === null) {
    const db = openForWriting(path);
    // In memory, a step's savepoint leaves no deleted content in a file and needs no disk space.
    db.pragma("temp_store = MEMORY");
    opened = { db, runner: transactionRunner(db) };
  }
  return opened;
}

/**
 * Moves the write-ahead log into the database file and truncates it, without waiting. Returns false, and loses nothing,
 * if a reader, such as a command of another process, still needs the log, or if the disk fails.
 */
function truncateLog(db: Database.Database): boolean {
  const timeoutMs = db.pragma("busy_timeout", { simple: true }) as number;
  db.pragma("busy_timeout = 0");
  try {
    return db.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) === 0;
  } catch (error) {
    if (error instanceof Database.SqliteError) return false;
    throw error;
  } finally {
    db.pragma(`busy_timeout = ${timeoutMs}`);
  }
}
