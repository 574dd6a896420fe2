import type { Clock } from "../../shared/clock.ts";
import { ServiceError, type ErrorCode } from "../../shared/errors.ts";
import type { NotedStores } from "../store/all-steps.ts";
import type { AuditEntry } from "../store/accounts/audit-log.ts";
import type { Store } from "../store/store.ts";

/** Identity and origin of an operator. */
export type Actor = Pick<AuditEntry, "via" | "actor" | "origin">;

export type AuditEvent = Pick<AuditEntry, "action" | "targetKind" | "targetId"> &
  Partial<Pick<AuditEntry, "before" | "after">>;

/** Errors after which the outcome is unknown: either nothing was stored, or the action with its audit event. */
const UNKNOWN_OUTCOME: ReadonlySet<ErrorCode> = new Set(["storage_unavailable", "shutting_down"]);

export type AuditTrail = ReturnType<typeof auditTrail>;

export function auditTrail(log: Pick<Store["audit"], "append" | "noting">, clock: Pick<Clock, "now">) {
  const entryOf = (actor: Actor, { before = null, after = null, ...auditEvent }: AuditEvent): AuditEntry => ({
    ...actor,
    ...auditEvent,
    before,
    after,
    atMs: clock.now(),
  });

  return {
    /** Records a completed action that storage does not perform itself. */
    note(actor: Actor, auditEvent: AuditEvent): Promise<void> {
      return log.append(entryOf(actor, auditEvent));
    },

    /** Returns stores for one write of the action, which commits the audit event with it. */
    noting(actor: Actor, auditEvent: AuditEvent): NotedStores {
      return log.noting(entryOf(actor, auditEvent));
    },

    /** Runs `act`, which performs the action in one write. A rejected action is recorded as `<action>.failed`. */
    async record<T>(actor: Actor, auditEvent: AuditEvent, act: (writes: NotedStores) => Promise<T>): Promise<T> {
      const entry = entryOf(actor, auditEvent);
      try {
        return await act(log.noting(entry));
      } catch (error) {
        if (error instanceof ServiceError && !UNKNOWN_OUTCOME.has(error.code)) {
          const after = { code: error.code, tried: entry.after };
          // The caller gets the error of the action.
          await log.append({ ...entry, action: `${auditEvent.action}.failed`, after }).catch(() => undefined);
        }
        throw error;
      }
    },
  };
}
