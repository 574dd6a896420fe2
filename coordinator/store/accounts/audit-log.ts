import { readList, type Page } from "../steps/page.ts";
import { pageRead, read, write } from "../steps/steps.ts";
import { integer, json, key, nullable, Table, text, type RowOf } from "../steps/table.ts";
import type { Tx } from "../steps/tx.ts";

/** Kinds of things that operators act on. */
export const AUDIT_TARGETS = ["account", "announcement", "cargo", "coordinator", "island"] as const;
type AuditTarget = (typeof AUDIT_TARGETS)[number];

/** Through the API, by an operator's session; or by a command on the coordinator's machine. */
type AuditVia = "api" | "command";

/** What operators did. Lines are added, and never changed or removed: storage itself refuses that. */
export const auditLogTable = new Table(
  "audit_log",
  {
    /** Increases with time. */
    id: integer({ sqlite: "PRIMARY KEY", postgres: "GENERATED ALWAYS AS IDENTITY PRIMARY KEY" }),
    atMs: integer(),
    via: text<AuditVia>("CHECK (via IN ('api', 'command'))"),
    /** The operator's account; of a command the user of the operating system. */
    actor: key(),
    /** Network address of the client; of a command the machine's name. */
    origin: text(),
    /** As "account.suspend"; with ".failed" for one that was refused. */
    action: key(),
    targetKind: text<AuditTarget>(),
    targetId: key(),
    /** What was changed, as it was and as it is to be: any JSON; null where there is nothing to say. */
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

/** What an operator did, or tried. It has no secret, and of accounts only ids: the log outlives an account. */
export type AuditEntry = Omit<RowOf<typeof auditLogTable>, "id">;

export interface AuditLine extends RowOf<typeof auditLogTable> {
  /** Of the operator; null for a command, empty for an account that was deleted. */
  readonly email: string | null;
}

/** What was acted on, and when. */
export type AuditEventRef = Pick<AuditLine, "id" | "atMs" | "action" | "targetKind" | "targetId">;

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly targetId?: string | undefined;
}

const SELECT = `SELECT ${auditLogTable.all}, (SELECT email FROM accounts WHERE accounts.id = actor) AS email FROM audit_log`;

/** Adds a line, in the transaction of what it notes. */
export async function appendLine(tx: Tx, entry: AuditEntry): Promise<void> {
  await auditLogTable.insert(tx, entry);
}

export const auditSteps = {
  /** For what storage does not do itself. */
  append: write(appendLine),

  /** Newest first. `total` counts all pages. */
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

  /** The last `limit` lines, newest first. Costs the same however long the log is. */
  latest: read((tx, limit: number) => {
    const columns = auditLogTable.columns("id", "atMs", "action", "targetKind", "targetId");
    return tx.all<AuditEventRef>(`SELECT ${columns} FROM audit_log ORDER BY id DESC LIMIT @limit`, { limit });
  }),
};
