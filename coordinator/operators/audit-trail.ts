import type { Clock } from "../../shared/clock.ts";
import { ServiceError, type ErrorCode } from "../../shared/errors.ts";
import type { NotedStores } from "../store/all-steps.ts";
import type { AuditEntry } from "../store/accounts/audit-log.ts";
import type { Store } from "../store/store.ts";

/** The operator or command that acts, and its origin. */
export type Actor = Pick<AuditEntry, "via" | "actor" | "origin">;

/** An action of an operator, for the audit log. */
export type AuditEvent = Pick<AuditEntry, "action" | "targetKind" | "targetId"> &
  Partial<Pick<AuditEntry, "before" | "after">>;

/** Error codes that leave it unknown whether the action was stored together with its audit line. */
const UNKNOWN_OUTCOME: ReadonlySet<ErrorCode> = new Set(["storage_unavailable", "shutting_down"]);

export type AuditTrail = ReturnType<typeof auditTrail>;

/** Opens the recording of operator actions in the audit log. */
export function auditTrail(log: Pick<Store["audit"], "append" | "noting">, clock: Pick<Clock, "now">) {
  const entryOf = (actor: Actor, { before = null, after = null, ...auditEvent }: AuditEvent): AuditEntry => ({
    ...actor,
    ...auditEvent,
    before,
    after,
    atMs: clock.now(),
  });

  return {
    /** Records an action that is complete and not a write of the store. */
    note(actor: Actor, auditEvent: AuditEvent): Promise<void> {
      return log.append(entryOf(actor, auditEvent));
    },

    /** Returns stores for one write of the action, whose commit includes the audit line. */
    noting(actor: Actor, auditEvent: AuditEvent): NotedStores {
      return log.noting(entryOf(actor, auditEvent));
    },

    /** Runs `act`, which performs the action in one write. Records a refused action as `<action>.failed`. */
    async record<T>(actor: Actor, auditEvent: AuditEvent, act: (writes: NotedStores) => Promise<T>): Promise<T> {
      const entry = entryOf(actor, auditEvent);
      try {
        return await act(log.noting(entry));
      } catch (error) {
        if (error instanceof ServiceError && !UNKNOWN_OUTCOME.has(error.code)) {
          const after = { code: error.code, tried: entry.after };
          // The caller gets the error of the action, not of the audit line.
          await log.append({ ...entry, action: `${auditEvent.action}.failed`, after }).catch(() => undefined);
        }
        throw error;
      }
    },
  };
}
