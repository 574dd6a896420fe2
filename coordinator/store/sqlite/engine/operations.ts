import type Database from "better-sqlite3";
import type { HotWrites } from "../../jobs/hot-writes.ts";
import { feedOperations } from "../jobs/feed-operations.ts";
import { jobOperations } from "../jobs/job-operations.ts";
import { submissionOperations } from "../jobs/submission.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { pageBytesOf } from "./connection.ts";

/**
 * All writes by name. A handler shares a transaction with others, so it must refuse before it writes anything. A ServiceError or
 * IllegalTransitionError rejects only its own call and does not roll back the others.
 */
export interface Operations extends HotWrites, MaintenanceOperations {}

export type OperationKind = keyof Operations;
export type OperationArgs<K extends OperationKind> = Parameters<Operations[K]>[0];
export type OperationResult<K extends OperationKind> = ReturnType<Operations[K]>;
/** A step of a store: its name, for example "islands.save", and its arguments. */
export type StepOperation = readonly [step: `${string}.${string}`, args: readonly unknown[]];
/** An operation as it is sent to the worker. */
export type Operation =
  | { [K in OperationKind]: readonly [kind: K, args: OperationArgs<K>] }[OperationKind]
  | StepOperation;

export const isStep = (operation: readonly [string, unknown]): operation is StepOperation => operation[0].includes(".");

/** Returns all handlers, with their statements prepared on `db`. */
export function createOperations(db: Database.Database, ledger: Ledger): Operations {
  return {
    ...submissionOperations(db, ledger),
    ...feedOperations(db),
    ...jobOperations(db, ledger),
    ...maintenanceOperations(db),
  };
}

/** Maximum size that a step moves from the end of the file into unused pages. */
const MOVED_BYTES = 1_024 * 1_024;
/** Unused space that stays in the file for later writes, so that it does not constantly shrink and grow. */
const KEPT_BYTES = 10 * MOVED_BYTES;

interface MaintenanceOperations {
  /** Increments a counter and returns it. */
  check(args: Record<string, never>): number;
  /** Reclaims some unused space. Returns true if there is more. */
  reclaim(args: Record<string, never>): boolean;
}

function maintenanceOperations(db: Database.Database): MaintenanceOperations {
  const check = db.prepare<[], number>("UPDATE checks SET count = count + 1 WHERE id = 1 RETURNING count").pluck();
  return {
    check: () => check.get() ?? 0,
    reclaim() {
      const pageBytes = pageBytesOf(db);
      const spare = (): number => (db.pragma("freelist_count", { simple: true }) as number) - KEPT_BYTES / pageBytes;
      if (db.pragma("auto_vacuum", { simple: true }) !== 2 || spare() <= 0) return false;
      db.pragma(`incremental_vacuum(${Math.min(MOVED_BYTES / pageBytes, Math.ceil(spare()))})`);
      return spare() > 0;
    },
  };
}
