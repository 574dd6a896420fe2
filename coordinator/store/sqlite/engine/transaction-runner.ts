import type Database from "better-sqlite3";
import { failureOf, isExpected, type Failure } from "./worker-errors.ts";
import { Ledger } from "../ledger/ledger.ts";
import { createOperations, type Operation, type Operations } from "./operations.ts";

/** Results of the operations of one `run`. `values` has an element for each; those named in `failures` failed. */
export interface TransactionAnswer {
  readonly values: unknown[];
  readonly failures: [index: number, failure: Failure][];
  /** Transactions committed since the runner was made. */
  readonly commits: number;
}

/** Attempts at `BEGIN IMMEDIATE`. Each waits for the connection's busy timeout. */
const BEGIN_TRIES = 3;

/** Runs lists of operations, each list in one transaction. */
export class TransactionRunner {
  readonly #db: Database.Database;
  readonly #ledger: Ledger;
  readonly #operations: Operations;
  #commits = 0;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#ledger = new Ledger(db);
    this.#operations = createOperations(db, this.#ledger);
  }

  /**
   * A refused operation fails alone; the others are committed. A fault (of SQL, of the disk) rolls all of them back, and each is
   * then run again in its own transaction, so that only the faulty ones fail.
   */
  run(operations: readonly Operation[]): TransactionAnswer {
    try {
      const { values, failures } = this.#runTogether(operations);
      return { values, failures, commits: this.#commits };
    } catch (error) {
      if (operations.length === 1 || error instanceof BeginError) {
        const failures = operations.map((_, index): [number, Failure] => [index, failureOf(error)]);
        return { values: [], failures, commits: this.#commits };
      }
      return this.#runApart(operations);
    }
  }

  #runApart(operations: readonly Operation[]): TransactionAnswer {
    const values: unknown[] = [];
    const failures: [number, Failure][] = [];
    for (const [index, operation] of operations.entries()) {
      const answer = this.run([operation]);
      values.push(answer.values[0]);
      const failure = answer.failures[0];
      if (failure !== undefined) failures.push([index, failure[1]]);
    }
    return { values, failures, commits: this.#commits };
  }

  #runTogether(operations: readonly Operation[]): Pick<TransactionAnswer, "values" | "failures"> {
    const values: unknown[] = [];
    const failures: [number, Failure][] = [];
    this.#begin();
    try {
      for (const [index, operation] of operations.entries()) {
        try {
          values.push(apply(this.#operations, operation));
        } catch (error) {
          if (!isExpected(error)) throw error;
          values.push(undefined);
          failures.push([index, failureOf(error)]);
        }
      }
      this.#ledger.flush();
      this.#db.exec("COMMIT");
    } catch (error) {
      // After some faults, such as a full disk, SQLite has ended the transaction itself.
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
    this.#commits += 1;
    return { values, failures };
  }

  #begin(): void {
    for (let tries = 1; ; tries++) {
      try {
        this.#db.exec("BEGIN IMMEDIATE");
        break;
      } catch (error) {
        if (tries === BEGIN_TRIES)
          throw new BeginError("another process is writing to the database; try again", { cause: error });
      }
    }
    this.#ledger.begin();
  }
}

/** No transaction could be begun. Running the operations one by one would only wait again for each. */
class BeginError extends Error {
  override readonly name = "BeginError";
}

function apply(operations: Operations, [kind, args]: Operation): unknown {
  // `Operation` pairs each kind with its arguments; TypeScript cannot follow that through an index.
  return (operations[kind] as (args: Operation[1]) => unknown)(args);
}
