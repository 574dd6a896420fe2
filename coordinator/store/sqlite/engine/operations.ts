import type Database from "better-sqlite3";
import type { HotWrites } from "../../jobs/hot-writes.ts";
import { feedOperations } from "../jobs/feed-operations.ts";
import { jobOperations } from "../jobs/job-operations.ts";
import { submissionOperations } from "../jobs/submission.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { hasIncrementalVacuum, pageBytesOf } from "./connection.ts";

/**
 * All writes by name. Handlers of several calls share a transaction, so a handler must refuse before it writes: a
 * ServiceError or IllegalTransitionError rejects only its own call, without a rollback.
 */
export interface Operations extends HotWrites, MaintenanceOperations {}

/** A call of a step; its name consists of store and step, such as "islands.save". */
export type StepOperation = readonly [step: `${string}.${string}`, args: readonly unknown[]];
/** A write as it is sent to the worker. */
export type Operation =
  | { [K in keyof Operations]: readonly [kind: K, args: Parameters<Operations[K]>[0]] }[keyof Operations]
  | StepOperation;

export const isStep = (operation: readonly [string, unknown]): operation is StepOperation => operation[0].includes(".");

export function createOperations(db: Database.Database, ledger: Ledger): Operations {
  return {
    ...submissionOperations(db, ledger),
    ...feedOperations(db),
    ...jobOperations(db, ledger),
    ...maintenanceOperations(db),
  };
}

/** Maximum number of bytes that one `reclaim` moves from the end of the file into unused pages. */
const MOVED_BYTES = 1_024 * 1_024;
/** Unused bytes that stay in the file for later writes, so that it does not constantly shrink and grow. */
const KEPT_BYTES = 10 * MOVED_BYTES;

interface MaintenanceOperations {
  /** Increments a counter and returns it, to test that the database is writable. */
  check(args: Record<string, never>): number;
  /** Reclaims some unused space. Returns true if there is more to reclaim. */
  reclaim(args: Record<string, never>): boolean;
}

function maintenanceOperations(db: Database.Database): MaintenanceOperations {
  const check = db.prepare<[], number>("UPDATE checks SET count = count + 1 WHERE id = 1 RETURNING count").pluck();
  return {
    check: () => check.get() ?? 0,
    reclaim() {
      const pageBytes = pageBytesOf(db);
      const spare = (): number => (db.pragma("freelist_count", { simple: true }) as number) - KEPT_BYTES / pageBytes;
      if (!hasIncrementalVacuum(db) || spare() <= 0) return false;
      db.pragma(`incremental_vacuum(${Math.min(MOVED_BYTES / pageBytes, Math.ceil(spare()))})`);
      return spare() > 0;
    },
  };
}
