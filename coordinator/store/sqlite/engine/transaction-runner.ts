import type Database from "better-sqlite3";
import { failureOf, isExpected, type Failure } from "./worker-errors.ts";
import { openLedger } from "../ledger/ledger.ts";
import { stepNamed } from "../../all-steps.ts";
import { runBody } from "../../steps/steps.ts";
import { createOperations, isStep, type Operation, type Operations, type StepOperation } from "./operations.ts";
import { PreparedStatements, SqliteTx } from "./sqlite-tx.ts";

/** Results of the operations of one `run`. `values` has an element for each; those named in `failures` failed. */
export interface TransactionAnswer {
  readonly values: unknown[];
  readonly failures: [index: number, failure: Failure][];
  /** Transactions committed since the runner was made. */
  readonly commits: number;
}

/** What the writer's thread answers to a list of operations. */
export interface RunAnswer extends TransactionAnswer {
  /** Those that failed because nothing can be written now, to be tried again. */
  readonly unwritten: readonly [index: number, operation: Operation][];
}

export type TransactionRunner = ReturnType<typeof transactionRunner>;

/** Runs lists of operations, each list in one transaction. */
export function transactionRunner(db: Database.Database) {
  let commits = 0;
  const ledger = openLedger(db);
  const handlers = createOperations(db, ledger);
  const statements = new PreparedStatements(db);

  /**
   * A refused operation fails alone; the others are committed. A fault (of SQL, of the disk) rolls all of them back, and each is
   * then run again in its own transaction, so that only the faulty ones fail. While nothing can be written, all fail.
   */
  async function run(operations: readonly Operation[]): Promise<TransactionAnswer> {
    try {
      return await runTogether(operations);
    } catch (error) {
      const failure = failureOf(error);
      if (operations.length > 1 && failure.kind !== "storage") return runApart(operations);
      return { values: [], failures: operations.map((_, index) => [index, failure]), commits };
    }
  }

  async function runApart(operations: readonly Operation[]): Promise<TransactionAnswer> {
    const values: unknown[] = [];
    const failures: [number, Failure][] = [];
    let storageFailure: Failure | undefined;
    for (const [index, operation] of operations.entries()) {
      // Each try may wait for the busy timeout: one is enough to know that nothing can be written.
      const answer = storageFailure === undefined ? await run([operation]) : undefined;
      const failure = storageFailure ?? answer?.failures[0]?.[1];
      if (failure?.kind === "storage") storageFailure = failure;
      values.push(answer?.values[0]);
      if (failure !== undefined) failures.push([index, failure]);
    }
    return { values, failures, commits };
  }

  async function runTogether(operations: readonly Operation[]): Promise<TransactionAnswer> {
    const values: unknown[] = [];
    const failures: [number, Failure][] = [];
    // Waits for the connection's busy timeout.
    db.exec("BEGIN IMMEDIATE");
    ledger.begin();
    try {
      for (const [index, operation] of operations.entries()) {
        try {
          values.push(isStep(operation) ? await runStep(operation) : apply(handlers, operation));
        } catch (error) {
          if (!isExpected(error)) throw error;
          values.push(undefined);
          failures.push([index, failureOf(error)]);
        }
      }
      ledger.flush();
      db.exec("COMMIT");
    } catch (error) {
      // After some faults, such as a full disk, SQLite has ended the transaction itself.
      if (db.inTransaction) db.exec("ROLLBACK");
      throw error;
    }
    commits += 1;
    return { values, failures, commits };
  }

  /** A step that throws has written nothing, whatever it did before. */
  async function runStep([name, args]: StepOperation): Promise<unknown> {
    const tx = new SqliteTx(statements, ledger);
    db.exec("SAVEPOINT step");
    try {
      const value = await settledAtOnce(name, runBody(stepNamed(name), tx, args));
      db.exec("RELEASE step");
      return value;
    } catch (error) {
      // The balances of the transaction have what it posted.
      if (tx.hasPosted && isExpected(error))
        throw new Error(`The step ${name} refused after it had posted`, { cause: error });
      if (db.inTransaction) db.exec("ROLLBACK TO step; RELEASE step");
      ledger.forget();
      throw error;
    } finally {
      tx.end();
    }
  }

  return {
    run,
  };
}

/** A step that awaits anything but its transaction would keep the transaction of others open. @throws {Error} for such a step. */
function settledAtOnce<T>(name: string, step: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const overdue = setImmediate(() => {
      reject(new Error(`The step ${name} awaits something other than its transaction`));
    });
    step.then(resolve, reject).finally(() => clearImmediate(overdue));
  });
}

function apply(operations: Operations, [kind, args]: Exclude<Operation, StepOperation>): unknown {
  // `Operation` pairs each kind with its arguments; TypeScript cannot follow that through an index.
  return (operations[kind] as (args: unknown) => unknown)(args);
}

/** Runs a list of operations, and gives back those that can be tried again. */
export async function runAnswering(
  runner: Pick<TransactionRunner, "run">,
  operations: readonly Operation[],
): Promise<RunAnswer> {
  const answer = await runner.run(operations);
  const unwritten: [number, Operation][] = [];
  for (const [index, { kind }] of answer.failures) {
    const operation = operations[index];
    if (kind === "storage" && operation !== undefined) unwritten.push([index, operation]);
  }
  return { ...answer, unwritten };
}
