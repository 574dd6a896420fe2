import type Database from "better-sqlite3";
import { accountOperations, type AccountOperations } from "./account-operations.ts";
import { credentialOperations, type CredentialOperations } from "./credential-operations.ts";
import { feedOperations, type FeedOperations } from "./feed-operations.ts";
import { jobOperations, type JobOperations } from "./job-operations.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerOperations, type LedgerOperations } from "./ledger-operations.ts";
import { maintenanceOperations, type MaintenanceOperations } from "./maintenance-operations.ts";
import { registryOperations, type RegistryOperations } from "./registry-operations.ts";

/**
 * Every write, by name. A handler runs inside the batch's transaction and must find out whether it may write before it writes:
 * a ServiceError or IllegalTransitionError is the answer to its caller and leaves the others of the batch as they are.
 */
export interface Operations
  extends
    AccountOperations,
    CredentialOperations,
    FeedOperations,
    JobOperations,
    LedgerOperations,
    MaintenanceOperations,
    RegistryOperations {}

export type OperationKind = keyof Operations;
export type OperationArgs<K extends OperationKind> = Parameters<Operations[K]>[0];
export type OperationResult<K extends OperationKind> = ReturnType<Operations[K]>;
/** An operation as it crosses to the worker. */
export type Operation = { [K in OperationKind]: readonly [kind: K, args: OperationArgs<K>] }[OperationKind];

/** The handlers, with their statements prepared on `db`. */
export function createOperations(db: Database.Database, ledger: Ledger): Operations {
  return {
    ...accountOperations(db, ledger),
    ...credentialOperations(db),
    ...feedOperations(db),
    ...jobOperations(db, ledger),
    ...ledgerOperations(ledger),
    ...maintenanceOperations(db),
    ...registryOperations(db),
  };
}
