import { readList, type Page } from "../steps/page.ts";
import { pageRead, read, write } from "../steps/steps.ts";
import { integer, json, key, nullable, Table, text, type RowOf } from "../steps/table.ts";
import type { Tx } from "../steps/tx.ts";

/** Kinds of things that operators act on. */
export const AUDIT_TARGETS = ["account", "announcement", "cargo", "coordinator", "island", "job"] as const;

/** Audit log of operator actions. Triggers reject changes and deletions of its rows. */
export const auditLogTable = new Table(
  "audit_log",
  {
    /** Sequence number, which increases from line to line. */
    id: integer({ sqlite: "PRIMARY KEY", postgres: "GENERATED ALWAYS AS IDENTITY PRIMARY KEY" }),
    atMs: integer(),
    /** `api`: an operator's session. `command`: a command on the coordinator's machine. */
    via: text<"api" | "command">("CHECK (via IN ('api', 'command'))"),
    /** Id of the operator's account; for a command, the operating system user. */
    actor: key(),
    /** Network address of the client; for a command, the name of the machine. */
    origin: text(),
    /** Name such as "account.suspend", with the suffix ".failed" if it was refused. */
    action: key(),
    targetKind: text<(typeof AUDIT_TARGETS)[number]>(),
    targetId: key(),
    /** Changed values before and after, as any JSON; null if there is nothing to record. */
    before: nullable(json()),
    after: nullable(json()),
  },
  {
    hasRowid: true,
    indexes: [
      "CREATE INDEX audit_log_by_target ON audit_log (target_id, id)",
      "CREATE INDEX audit_log_by_actor ON audit_log (actor, id)",
      "CREATE INDEX audit_log_by_action ON audit_log (action, id)",
    ],
  },
);

/**
 * An action, or a refused attempt at an action. It contains no secrets, and names accounts only by id because the log
 * outlives them.
 */
export type AuditEntry = Omit<RowOf<typeof auditLogTable>, "id">;

export interface AuditLine extends RowOf<typeof auditLogTable> {
  /** Address of the operator's account; null for a command, empty for a deleted account. */
  readonly email: string | null;
}

export type AuditEventRef = Pick<AuditLine, "id" | "atMs" | "action" | "targetKind" | "targetId">;

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly targetId?: string | undefined;
}

const SELECT = `SELECT ${auditLogTable.all}, (SELECT email FROM accounts WHERE accounts.id = actor) AS email FROM audit_log`;

export async function appendLine(tx: Tx, entry: AuditEntry): Promise<void> {
  await auditLogTable.insert(tx, entry);
}

export const auditSteps = {
  /** Appends a line for an action that changes no table of this store. */
  append: write(appendLine),

  /** Returns a page of the matching lines, newest first. `total` counts all pages. */
  list: pageRead(async (tx, filter: AuditFilter, page: Page) => {
    const where = [
      filter.actor !== undefined && "actor = @actor",
      filter.action !== undefined && "action = @action",
      filter.targetId !== undefined && "target_id = @targetId",
    ];
    const list = { select: SELECT, from: "audit_log", key: "id", where, order: "id DESC" };
    const { rows, total } = await readList<AuditLine>(tx, list, filter, page);
    return { lines: rows.map((row) => auditLogTable.decode(row, tx.dialect)), total };
  }),

  /** Returns the last `limit` lines, newest first, at a cost independent of the log's length. */
  latest: read((tx, limit: number) => {
    const columns = auditLogTable.columns("id", "atMs", "action", "targetKind", "targetId");
    return tx.all<AuditEventRef>(`SELECT ${columns} FROM audit_log ORDER BY id DESC LIMIT @limit`, { limit });
  }),
};
