import type { AccountStore } from "./account-store.ts";
import type { catalogSteps } from "./catalog.ts";
import type { OperatorStore } from "./operator-store.ts";
import type { Page } from "./page.ts";
import type { Opened } from "./steps.ts";

/** Kinds of things that operators act on. */
export const AUDIT_TARGETS = ["account", "announcement", "cargo", "coordinator", "island"] as const;
export type AuditTarget = (typeof AUDIT_TARGETS)[number];

/** Through the API, by an operator's session; or by a command on the coordinator's machine. */
export type AuditVia = "api" | "command";

/** What an operator did, or tried. It has no secret, and of accounts only ids: the log outlives an account. */
export interface AuditEntry {
  readonly atMs: number;
  readonly via: AuditVia;
  /** The operator's account; of a command the user of the operating system. */
  readonly actor: string;
  /** Network address of the client; of a command the machine's name. */
  readonly origin: string;
  /** As "account.suspend"; with ".failed" for one that was refused. */
  readonly action: string;
  readonly targetKind: AuditTarget;
  readonly targetId: string;
  /** What was changed, as it was and as it is to be: any JSON; null where there is nothing to say. */
  readonly before: unknown;
  readonly after: unknown;
}

export interface AuditLine extends AuditEntry {
  /** Increases with time. */
  readonly id: number;
  /** Of the operator; null for a command, empty for an account that was deleted. */
  readonly email: string | null;
}

/** What was acted on, and when. */
export type AuditedDeed = Pick<AuditLine, "id" | "atMs" | "action" | "targetKind" | "targetId">;

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly targetId?: string | undefined;
}

/** The writes of operators. */
export interface NotedWrites {
  readonly accounts: AccountStore;
  readonly catalog: Pick<Opened<typeof catalogSteps>, "approve" | "importCargo" | "setDisabled" | "setPrice">;
  readonly operators: Pick<
    OperatorStore,
    | "announce"
    | "grant"
    | "reinstateAccount"
    | "reinstateIsland"
    | "removeAnnouncement"
    | "setRole"
    | "suspendAccount"
    | "suspendIsland"
  >;
}

/** What operators did. Lines are added, and never changed or removed: storage itself refuses that. */
export interface AuditLog {
  /** For what storage does not do itself. */
  append(entry: AuditEntry): Promise<void>;
  /**
   * For one write: it adds the line in its own commit, so that there is never one without the other. A write that is refused, or resolves
   * to false as it changes nothing, adds none.
   */
  noting(entry: AuditEntry): NotedWrites;
  /** Newest first. `total` counts all pages. */
  list(filter: AuditFilter, page: Page): Promise<{ lines: AuditLine[]; total: number }>;
  /** The last `limit` lines, newest first. Costs the same however long the log is. */
  latest(limit: number): Promise<AuditedDeed[]>;
}
