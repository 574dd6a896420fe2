import type Database from "better-sqlite3";
import type { HotWrites } from "../../jobs/hot-writes.ts";
import { feedOperations } from "../jobs/feed-operations.ts";
import { jobOperations } from "../jobs/job-operations.ts";
import { submissionOperations } from "../jobs/submission.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { maintenanceOperations, type MaintenanceOperations } from "./maintenance-operations.ts";

/**
 * Every write, by name. A handler runs in a transaction that it shares with others, so it must refuse before it writes anything:
 * a ServiceError or IllegalTransitionError goes to its caller alone and does not roll back the others.
 */
export interface Operations extends HotWrites, MaintenanceOperations {}

export type OperationKind = keyof Operations;
export type OperationArgs<K extends OperationKind> = Parameters<Operations[K]>[0];
export type OperationResult<K extends OperationKind> = ReturnType<Operations[K]>;
/** A step of a store: its name, as in "islands.save", and its arguments. */
export type StepOperation = readonly [step: `${string}.${string}`, args: readonly unknown[]];
/** An operation in the form in which it is sent to the worker. */
export type Operation =
  | { [K in OperationKind]: readonly [kind: K, args: OperationArgs<K>] }[OperationKind]
  | StepOperation;

export const isStep = (operation: readonly [string, unknown]): operation is StepOperation => operation[0].includes(".");

/** All handlers, with their statements prepared on `db`. */
export function createOperations(db: Database.Database, ledger: Ledger): Operations {
  return {
    ...submissionOperations(db, ledger),
    ...feedOperations(db),
    ...jobOperations(db, ledger),
    ...maintenanceOperations(db),
  };
}
