import type Database from "better-sqlite3";
import { toFailure, isExpected, type Failure } from "./worker-errors.ts";
import { openLedger } from "../ledger/ledger.ts";
import { stepNamed } from "../../all-steps.ts";
import { runBody } from "../../steps/steps.ts";
import { createOperations, isStep, type Operation, type Operations, type StepOperation } from "./operations.ts";
import { prepareOnce, SqliteTx } from "./sqlite-tx.ts";

/** Results of a list of operations: `values` has an element for each, `failures` one for each that failed. */
export interface RunResult {
  readonly values: unknown[];
  readonly failures: [index: number, failure: Failure][];
  /** Number of transactions committed since the runner was created. */
  readonly commits: number;
}

export interface RunReply extends RunResult {
  /** Operations that failed because the database is not writable; the writer retries the kept ones. */
  readonly unwritten: readonly [index: number, operation: Operation][];
}

export type TransactionRunner = ReturnType<typeof transactionRunner>;

/** Returns a runner of lists of operations, each list in one transaction. */
export function transactionRunner(db: Database.Database) {
  let commits = 0;
  const ledger = openLedger(db);
  const handlers = createOperations(db, ledger);
  const prepare = prepareOnce(db);

  /**
   * Runs operations in one transaction. A refused operation does not affect the others. A fault (of SQL, of the disk)
   * rolls all of them back, and each is run again in its own transaction, so that only faulty ones fail. While the
   * database is not writable, all fail.
   */
  async function run(operations: readonly Operation[]): Promise<RunResult> {
    try {
      return await runTogether(operations);
    } catch (error) {
      const failure = toFailure(error);
      if (operations.length > 1 && failure.kind !== "storage") return runApart(operations);
      return { values: [], failures: operations.map((_, index) => [index, failure]), commits };
    }
  }

  async function runApart(operations: readonly Operation[]): Promise<RunResult> {
    const values: unknown[] = [];
    const failures: [number, Failure][] = [];
    let storageFailure: Failure | undefined;
    for (const [index, operation] of operations.entries()) {
      // An attempt may wait for the busy timeout, so after one storage failure the rest fail without an attempt.
      const result = storageFailure === undefined ? await run([operation]) : undefined;
      const failure = storageFailure ?? result?.failures[0]?.[1];
      if (failure?.kind === "storage") storageFailure = failure;
      values.push(result?.values[0]);
      if (failure !== undefined) failures.push([index, failure]);
    }
    return { values, failures, commits };
  }

  async function runTogether(operations: readonly Operation[]): Promise<RunResult> {
    const values: unknown[] = [];
    const failures: [number, Failure][] = [];
    // BEGIN waits for the busy timeout of the connection.
    db.exec("BEGIN IMMEDIATE");
    ledger.begin();
    try {
      for (const [index, operation] of operations.entries()) {
        try {
          values.push(isStep(operation) ? await runStep(operation) : apply(handlers, operation));
        } catch (error) {
          if (!isExpected(error)) throw error;
          values.push(undefined);
          failures.push([index, toFailure(error)]);
        }
      }
      ledger.flush();
      db.exec("COMMIT");
    } catch (error) {
      // After some faults, such as a full disk, SQLite has already ended the transaction.
      if (db.inTransaction) db.exec("ROLLBACK");
      throw error;
    }
    commits += 1;
    return { values, failures, commits };
  }

  /** Runs a step within the transaction. If the step throws, its writes are rolled back. */
  async function runStep([name, args]: StepOperation): Promise<unknown> {
    const tx = new SqliteTx(prepare, ledger);
    db.exec("SAVEPOINT step");
    try {
      const value = await settledAtOnce(name, runBody(stepNamed(name), tx, args));
      db.exec("RELEASE step");
      return value;
    } catch (error) {
      // The step cannot be rolled back: the cached balances of the transaction include its postings.
      if (tx.hasPosted && isExpected(error))
        throw new Error(`Step ${name} must not refuse after it has posted`, { cause: error });
      if (db.inTransaction) db.exec("ROLLBACK TO step; RELEASE step");
      ledger.forget();
      throw error;
    } finally {
      tx.end();
    }
  }

  return { run };
}

/** Rejects if the step awaits anything but its transaction, which would keep the shared transaction open. */
function settledAtOnce<T>(name: string, step: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const overdue = setImmediate(() => {
      reject(new Error(`Step ${name} must not await anything but its transaction`));
    });
    step.then(resolve, reject).finally(() => clearImmediate(overdue));
  });
}

function apply(operations: Operations, [kind, args]: Exclude<Operation, StepOperation>): unknown {
  // `Operation` pairs each kind with its arguments; TypeScript cannot follow that through an index.
  return (operations[kind] as (args: unknown) => unknown)(args);
}

/** Runs operations and adds to the result which operations can be retried. */
export async function runForReply(runner: TransactionRunner, operations: readonly Operation[]): Promise<RunReply> {
  const result = await runner.run(operations);
  const unwritten: [number, Operation][] = [];
  for (const [index, { kind }] of result.failures) {
    const operation = operations[index];
    if (kind === "storage" && operation !== undefined) unwritten.push([index, operation]);
  }
  return { ...result, unwritten };
}
