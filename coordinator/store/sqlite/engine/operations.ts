import type Database from "better-sqlite3";
import { accountOperations, type AccountOperations } from "../accounts/account-operations.ts";
import { batchOperations, type BatchOperations } from "../jobs/batch-operations.ts";
import { contentOperations, type ContentOperations } from "../content/content-operations.ts";
import { conversationOperations, type ConversationOperations } from "../conversations/conversation-operations.ts";
import { credentialOperations, type CredentialOperations } from "../accounts/credential-operations.ts";
import { feedOperations, type FeedOperations } from "../jobs/feed-operations.ts";
import { fileOperations, type FileOperations } from "../files/file-operations.ts";
import { jobOperations, type JobOperations } from "../jobs/job-operations.ts";
import { islandTokenOperations, type IslandTokenOperations } from "../accounts/island-token-operations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ledgerOperations, type LedgerOperations } from "../ledger/ledger-operations.ts";
import { maintenanceOperations, type MaintenanceOperations } from "./maintenance-operations.ts";
import { hostFiguresOperations, type HostFiguresOperations } from "../islands/host-figures-operations.ts";
import { operatorOperations, type OperatorOperations } from "../operators/operator-operations.ts";
import type { AuditEntry } from "../../audit-log.ts";
import { passwordOperations, type PasswordOperations } from "../accounts/password-operations.ts";
import { settingsOperations, type SettingsOperations } from "../accounts/settings-operations.ts";
import { signUpOperations, type SignUpOperations } from "../accounts/sign-up-operations.ts";
import { usageOperations, type UsageOperations } from "../usage/usage-operations.ts";
import { webhookOperations, type WebhookOperations } from "../webhooks/webhook-operations.ts";

/**
 * Every write, by name. A handler runs in a transaction that it shares with others, so it must refuse before it writes anything:
 * a ServiceError or IllegalTransitionError goes to its caller alone and does not roll back the others.
 */
export interface Operations
  extends
    AccountOperations,
    BatchOperations,
    ContentOperations,
    ConversationOperations,
    CredentialOperations,
    FeedOperations,
    FileOperations,
    JobOperations,
    LedgerOperations,
    MaintenanceOperations,
    HostFiguresOperations,
    IslandTokenOperations,
    OperatorOperations,
    PasswordOperations,
    SettingsOperations,
    SignUpOperations,
    UsageOperations,
    WebhookOperations {
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
  const files = fileOperations(db);
  const operations = {
    ...accountOperations(db, ledger),
    ...batchOperations(db, ledger),
    ...contentOperations(db, ledger),
    ...conversationOperations(db, jobs),
    ...credentialOperations(db),
    ...feedOperations(db),
    ...files,
    ...jobs,
    ...ledgerOperations(ledger),
    ...maintenanceOperations(db),
    ...hostFiguresOperations(db),
    ...islandTokenOperations(db),
    ...operatorOperations(db, ledger),
    ...passwordOperations(db),
    ...settingsOperations(db),
    ...signUpOperations(db),
    ...usageOperations(db),
    ...webhookOperations(db),
  };
  const handlers: Record<string, ((args: never) => unknown) | undefined> = operations;
  return {
    ...operations,
    noted({ entry, kind, args }) {
      const handle = handlers[kind];
      if (handle === undefined) throw new Error(`There is no operation "${kind}"`);
      const result = handle(args as never);
      if (result !== false) operations.appendAudit(entry);
      return result;
    },
  };
}
