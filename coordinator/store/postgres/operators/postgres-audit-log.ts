import { noting, openStores } from "../../all-steps.ts";
import type { AuditedDeed, AuditEntry, AuditLog, NotedWrites } from "../../audit-log.ts";
import { auditColumn, auditLineOf, auditQuery, latestDeeds, type AuditRow } from "../../operator-queries.ts";
import { assertPage } from "../../page.ts";
import type { RunStep } from "../../steps.ts";
import { PostgresAccountStore } from "../accounts/postgres-account-store.ts";
import type { Session } from "../engine/connection.ts";
import type { Transactions } from "../engine/database.ts";
import { listOf, PostgresOperatorStore } from "./postgres-operator-store.ts";

export class PostgresAuditLog implements AuditLog {
  readonly #db: Transactions;
  readonly #run: RunStep;

  constructor(db: Transactions, run: RunStep) {
    this.#db = db;
    this.#run = run;
  }

  async append(entry: AuditEntry): Promise<void> {
    await this.#db.use((session) => append(session, entry));
  }

  noting(entry: AuditEntry): NotedWrites {
    const db = notingOn(this.#db, entry);
    return {
      accounts: new PostgresAccountStore(db),
      catalog: openStores(noting(this.#run, entry)).catalog,
      operators: new PostgresOperatorStore(db),
    };
  }

  async list(...[filter, page]: Parameters<AuditLog["list"]>): ReturnType<AuditLog["list"]> {
    assertPage(page);
    const { rows, total } = await listOf<AuditRow>(this.#db, auditQuery(filter, page));
    return { lines: rows.map(auditLineOf), total };
  }

  latest(limit: number): Promise<AuditedDeed[]> {
    return this.#db.use((session) => session.all<AuditedDeed>(latestDeeds("$1"), [limit]));
  }
}

/** Adds the line to each transaction, and makes one of each single statement that writes something. */
function notingOn(db: Transactions, entry: AuditEntry): Transactions {
  const transact: Transactions["transact"] = (call, isolation) =>
    db.transact(async (session) => {
      const result = await call(session);
      if (result !== false) await append(session, entry);
      return result;
    }, isolation);
  const run: Session["run"] = (sql, values) =>
    db.transact(async (session) => {
      const changed = await session.run(sql, values);
      if (changed > 0) await append(session, entry);
      return changed;
    });
  return { transact, use: (call) => db.use((session) => call({ ...session, run })) };
}

async function append(session: Session, entry: AuditEntry): Promise<void> {
  const { atMs, via, actor, origin, action, targetKind, targetId, before, after } = entry;
  await session.run(
    `INSERT INTO audit_log (at_ms, via, actor, origin, action, target_kind, target_id, before, after)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [atMs, via, actor, origin, action, targetKind, targetId, auditColumn(before), auditColumn(after)],
  );
}
