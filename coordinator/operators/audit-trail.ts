import type { Clock } from "../../shared/clock.ts";
import { ServiceError, type ErrorCode } from "../../shared/errors.ts";
import type { NotedStores } from "../store/all-steps.ts";
import type { AuditEntry } from "../store/accounts/audit-log.ts";
import type { Store } from "../store/store.ts";

/** Who acts, and from where. */
export type Actor = Pick<AuditEntry, "via" | "actor" | "origin">;

/** What is done, on what. */
export type AuditEvent = Pick<AuditEntry, "action" | "targetKind" | "targetId"> &
  Partial<Pick<AuditEntry, "before" | "after">>;

/** What becomes of a deed is unknown: either nothing, or it is stored with its line. */
const UNKNOWN_ENDS: ReadonlySet<ErrorCode> = new Set(["storage_unavailable", "shutting_down"]);

/** Notes what operators do. */
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
    /** Notes what storage does not do itself, after it was done. */
    note(actor: Actor, auditEvent: AuditEvent): Promise<void> {
      return log.append(entryOf(actor, auditEvent));
    },

    /** For one write of the deed, which has its line in the same commit. */
    noting(actor: Actor, auditEvent: AuditEvent): NotedStores {
      return log.noting(entryOf(actor, auditEvent));
    },

    /** Lets `act` do the deed with one write, as {@link noting}. One that is refused is noted as `<action>.failed`, with what was tried. */
    async record<T>(actor: Actor, auditEvent: AuditEvent, act: (writes: NotedStores) => Promise<T>): Promise<T> {
      const entry = entryOf(actor, auditEvent);
      try {
        return await act(log.noting(entry));
      } catch (error) {
        if (error instanceof ServiceError && !UNKNOWN_ENDS.has(error.code)) {
          const after = { code: error.code, tried: entry.after };
          // The caller gets the error of the deed.
          await log.append({ ...entry, action: `${auditEvent.action}.failed`, after }).catch(() => undefined);
        }
        throw error;
      }
    },
  };
}
