import type Database from "better-sqlite3";
import { grantPostings } from "../../../credits/postings.ts";
import type { Role } from "../../account-store.ts";
import type { AuditEntry } from "../../audit-log.ts";
import { auditColumn } from "../../operator-queries.ts";
import { GRANT_ACTION, type Announcement, type Grant, type Suspension } from "../../operator-store.ts";
import { REFUSALS } from "../../refusals.ts";
import type { Ledger } from "../ledger/ledger.ts";

export interface OperatorOperations {
  grant(args: Grant): boolean;
  setRole(args: { accountId: string; role: Role }): boolean;
  suspendAccount(args: Suspension & { accountId: string }): boolean;
  reinstateAccount(args: { accountId: string }): boolean;
  suspendIsland(args: Suspension & { hostId: string }): boolean;
  reinstateIsland(args: { hostId: string }): boolean;
  announce(args: Announcement & { nowMs: number; maxAnnouncements: number }): boolean;
  removeAnnouncement(args: { id: string }): boolean;
  appendAudit(args: AuditEntry): void;
}

export function operatorOperations(db: Database.Database, ledger: Ledger): OperatorOperations {
  const selectAccount = db
    .prepare<[string], string>("SELECT id FROM accounts WHERE id = ? AND deleted_at_ms IS NULL")
    .pluck();
  const selectGranted = db
    .prepare<{ accountId: string; actor: string; idempotencyKey: string; action: string }, number>(
      `SELECT json_extract(after, '$.grantMicro') FROM audit_log
       WHERE target_id = @accountId AND actor = @actor AND action = @action
         AND json_extract(after, '$.idempotencyKey') = @idempotencyKey`,
    )
    .pluck();
  const setRole = db.prepare<{ accountId: string; role: Role }>(
    `UPDATE accounts SET role = @role WHERE id = @accountId AND deleted_at_ms IS NULL
       AND (@role = 'user' OR suspended_at_ms IS NULL)`,
  );
  const suspendAccount = db.prepare<Suspension & { accountId: string }>(
    `UPDATE accounts SET suspended_at_ms = @atMs, suspended_because = @because
     WHERE id = @accountId AND deleted_at_ms IS NULL AND suspended_at_ms IS NULL AND role = 'user'`,
  );
  const reinstateAccount = db.prepare<{ accountId: string }>(
    `UPDATE accounts SET suspended_at_ms = NULL, suspended_because = NULL
     WHERE id = @accountId AND suspended_at_ms IS NOT NULL`,
  );
  const suspendIsland = db.prepare<Suspension & { hostId: string }>(
    `INSERT INTO suspended_islands (host_id, at_ms, because)
     SELECT host_id, @atMs, @because FROM islands WHERE host_id = @hostId AND removed_at_ms IS NULL
     ON CONFLICT DO NOTHING`,
  );
  const reinstateIsland = db.prepare<{ hostId: string }>("DELETE FROM suspended_islands WHERE host_id = @hostId");
  const endAnnouncements = db.prepare<[number]>("DELETE FROM announcements WHERE until_ms <= ?");
  const announce = db.prepare<Announcement & { maxAnnouncements: number }>(
    `INSERT INTO announcements (id, level, text, created_at_ms, until_ms) SELECT @id, @level, @text, @createdAtMs, @untilMs
     WHERE (SELECT count(*) FROM announcements) < @maxAnnouncements`,
  );
  const removeAnnouncement = db.prepare<{ id: string }>("DELETE FROM announcements WHERE id = @id");
  const append = db.prepare<Omit<AuditEntry, "before" | "after"> & { before: string | null; after: string | null }>(
    `INSERT INTO audit_log (at_ms, via, actor, origin, action, target_kind, target_id, before, after)
     VALUES (@atMs, @via, @actor, @origin, @action, @targetKind, @targetId, @before, @after)`,
  );
  return {
    grant({ accountId, micro, note, atMs, repeat }) {
      if (selectAccount.get(accountId) === undefined) throw REFUSALS.no_account();
      const granted = repeat === null ? undefined : selectGranted.get({ accountId, ...repeat, action: GRANT_ACTION });
      if (granted !== undefined && granted !== micro) throw REFUSALS.idempotency_conflict();
      if (granted !== undefined) return false;
      const postings = grantPostings(accountId, micro);
      ledger.assertAccepts(postings);
      ledger.post(postings, null, atMs, note);
      return true;
    },
    setRole: (args) => setRole.run(args).changes === 1,
    suspendAccount: (args) => suspendAccount.run(args).changes === 1,
    reinstateAccount: (args) => reinstateAccount.run(args).changes === 1,
    suspendIsland: (args) => suspendIsland.run(args).changes === 1,
    reinstateIsland: (args) => reinstateIsland.run(args).changes === 1,
    announce({ nowMs, ...announcement }) {
      endAnnouncements.run(nowMs);
      return announce.run(announcement).changes === 1;
    },
    removeAnnouncement: (args) => removeAnnouncement.run(args).changes === 1,
    appendAudit({ before, after, ...entry }) {
      append.run({ ...entry, before: auditColumn(before), after: auditColumn(after) });
    },
  };
}
