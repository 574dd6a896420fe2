import type Database from "better-sqlite3";
import { accountOperations, type AccountOperations } from "../accounts/account-operations.ts";
import { batchOperations, type BatchOperations } from "../jobs/batch-operations.ts";
import { contentOperations, type ContentOperations } from "../content/content-operations.ts";
import { askOperations, type AskOperations } from "../jobs/ask-operations.ts";
import { credentialOperations, type CredentialOperations } from "../accounts/credential-operations.ts";
import { feedOperations, type FeedOperations } from "../jobs/feed-operations.ts";
import { jobOperations, type JobOperations } from "../jobs/job-operations.ts";
import { islandTokenOperations, type IslandTokenOperations } from "../accounts/island-token-operations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ledgerOperations, type LedgerOperations } from "../ledger/ledger-operations.ts";
import { maintenanceOperations, type MaintenanceOperations } from "./maintenance-operations.ts";
import { hostFiguresOperations, type HostFiguresOperations } from "../islands/host-figures-operations.ts";
import type { AuditEntry } from "../../audit-log.ts";
import { passwordOperations, type PasswordOperations } from "../accounts/password-operations.ts";
import { settingsOperations, type SettingsOperations } from "../accounts/settings-operations.ts";
import { signUpOperations, type SignUpOperations } from "../accounts/sign-up-operations.ts";
import { usageOperations, type UsageOperations } from "../usage/usage-operations.ts";

/**
 * Every write, by name. A handler runs in a transaction that it shares with others, so it must refuse before it writes anything:
 * a ServiceError or IllegalTransitionError goes to its caller alone and does not roll back the others.
 */
export interface Operations
  extends
    AccountOperations,
    AskOperations,
    BatchOperations,
    ContentOperations,
    CredentialOperations,
    FeedOperations,
    JobOperations,
    LedgerOperations,
    MaintenanceOperations,
    HostFiguresOperations,
    IslandTokenOperations,
    PasswordOperations,
    SettingsOperations,
    SignUpOperations,
    UsageOperations {
  /** Runs another operation, and adds its line to the audit log unless that is refused or returns false. Returns what that returns. */
  noted(args: { readonly entry: AuditEntry; readonly kind: string; readonly args: unknown }): unknown;
}

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
  const jobs = jobOperations(db, ledger);
  const operations = {
    ...accountOperations(db, ledger),
    ...batchOperations(db, ledger),
    ...contentOperations(db, ledger),
    ...askOperations(db, jobs),
    ...credentialOperations(db),
    ...feedOperations(db),
    ...jobs,
    ...ledgerOperations(ledger),
    ...maintenanceOperations(db),
    ...hostFiguresOperations(db),
    ...islandTokenOperations(db),
    ...passwordOperations(db),
    ...settingsOperations(db),
    ...signUpOperations(db),
    ...usageOperations(db),
  };
  const append = db.prepare<object>(
    `INSERT INTO audit_log (at_ms, via, actor, origin, action, target_kind, target_id, before, after)
     VALUES (@atMs, @via, @actor, @origin, @action, @targetKind, @targetId, nullif(@before, 'null'), nullif(@after, 'null'))`,
  );
  const handlers: Record<string, ((args: never) => unknown) | undefined> = operations;
  return {
    ...operations,
    noted({ entry, kind, args }) {
      const handle = handlers[kind];
      if (handle === undefined) throw new Error(`There is no operation "${kind}"`);
      const result = handle(args as never);
      if (result !== false) {
        append.run({ ...entry, before: JSON.stringify(entry.before), after: JSON.stringify(entry.after) });
      }
      return result;
    },
  };
}
