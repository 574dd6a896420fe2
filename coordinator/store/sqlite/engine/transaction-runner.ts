import type Database from "better-sqlite3";
import { failureOf, isExpected, type Failure } from "./failure.ts";
import { Ledger } from "../ledger/ledger.ts";
import { createOperations, type Operation, type Operations } from "./operations.ts";

/** Answers of a batch. `values` has a place for each operation; those in `failures` failed. */
export interface TransactionAnswer {
  readonly values: unknown[];
  readonly failures: [index: number, failure: Failure][];
  /** Commits of this writer since it was opened. */
  readonly commits: number;
}

/** Tries at `BEGIN IMMEDIATE`, each of which waits as long as the connection's busy timeout. */
const BEGIN_TRIES = 3;

/** Runs batches of operations, each in one transaction. */
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
   * An operation's own refusal is its answer and leaves the others as they are. A fault (of SQL, of the disk) rolls the batch
   * back, and each operation is run again by itself, so that only those at fault fail.
   */
  run(batch: readonly Operation[]): TransactionAnswer {
    try {
      const { values, failures } = this.#runTogether(batch);
      return { values, failures, commits: this.#commits };
    } catch (error) {
      if (batch.length === 1 || error instanceof BeginError) {
        const failures = batch.map((_, index): [number, Failure] => [index, failureOf(error)]);
        return { values: [], failures, commits: this.#commits };
      }
      return this.#runApart(batch);
    }
  }

  #runApart(batch: readonly Operation[]): TransactionAnswer {
    const values: unknown[] = [];
    const failures: [number, Failure][] = [];
    for (const [index, operation] of batch.entries()) {
      const answer = this.run([operation]);
      values.push(answer.values[0]);
      const failure = answer.failures[0];
      if (failure !== undefined) failures.push([index, failure[1]]);
    }
    return { values, failures, commits: this.#commits };
  }

  #runTogether(batch: readonly Operation[]): Pick<TransactionAnswer, "values" | "failures"> {
    const values: unknown[] = [];
    const failures: [number, Failure][] = [];
    this.#begin();
    try {
      for (const [index, operation] of batch.entries()) {
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
      // SQLite ends the transaction itself after some faults (a full disk, for one).
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
        if (tries === BEGIN_TRIES) throw new BeginError("another process holds the database", { cause: error });
      }
    }
    this.#ledger.begin();
  }
}

/** No transaction could be begun: running the operations one by one would only wait as often. */
class BeginError extends Error {
  override readonly name = "BeginError";
}

function apply(operations: Operations, [kind, args]: Operation): unknown {
  // The pair comes from `Operation`, which ties the arguments to their kind; TypeScript cannot follow that through an index.
  return (operations[kind] as (args: Operation[1]) => unknown)(args);
}
