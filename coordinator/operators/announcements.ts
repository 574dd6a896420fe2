import type { Clock } from "../../shared/clock.ts";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import type { Announcement } from "../store/accounts/operators.ts";
import type { Store } from "../store/store.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";

export const MAX_ANNOUNCEMENTS = 20;
export const MAX_ANNOUNCEMENT_CHARS = 1_000;
/** Time for which the list is cached: every user may read it. */
const CACHE_MS = 1_000;

export type Announcements = ReturnType<typeof openAnnouncements>;

export function openAnnouncements(
  store: Pick<Store, "operators">,
  trail: AuditTrail,
  clock: Pick<Clock, "now" | "monotonicMs">,
) {
  let last: { readonly atMs: number; readonly read: Promise<Announcement[]> } | null = null;

  return {
    /** Returns the announcements, newest first. A change at another coordinator appears within a second. */
    async list(): Promise<Announcement[]> {
      const nowMs = clock.monotonicMs();
      if (last === null || nowMs - last.atMs >= CACHE_MS) {
        const read = store.operators.announcements(clock.now());
        last = { atMs: nowMs, read };
        read.catch(() => (last = null));
      }
      return (await last.read).filter(({ untilMs }) => untilMs === null || untilMs > clock.now());
    },

    /**
     * Publishes an announcement. `untilMs`: null to publish it indefinitely.
     * @throws {ServiceError} `bad_request` if there are 20; {@link ValidationError}
     */
    async add(actor: Actor, params: Pick<Announcement, "level" | "text" | "untilMs">): Promise<Announcement> {
      const nowMs = clock.now();
      if (params.untilMs !== null && params.untilMs <= nowMs)
        throw new ValidationError([{ path: "until", message: "is in the past" }]);
      const announcement = { id: newId("ann", nowMs), createdAtMs: nowMs, ...params };
      const auditEvent = { ...target(announcement.id), action: "announcement.add", after: params };
      await trail.record(actor, auditEvent, async ({ operators }) => {
        const limits = { nowMs, maxAnnouncements: MAX_ANNOUNCEMENTS };
        if (await operators.announce(announcement, limits)) return;
        const message = `There can be at most ${MAX_ANNOUNCEMENTS} announcements. Remove one first`;
        throw new ServiceError("bad_request", message);
      });
      last = null;
      return announcement;
    },

    /** Removes an announcement. @throws {ServiceError} `not_found` */
    async remove(actor: Actor, id: string): Promise<void> {
      const before = (await store.operators.announcements(clock.now())).find((each) => each.id === id);
      if (before === undefined) throw new ServiceError("not_found", `There is no announcement "${id}"`);
      const { level, text, untilMs } = before;
      const auditEvent = { ...target(id), action: "announcement.remove", before: { level, text, untilMs } };
      await trail.record(actor, auditEvent, ({ operators }) => operators.removeAnnouncement(id));
      last = null;
    },
  };
}

const target = (targetId: string) => ({ targetKind: "announcement", targetId }) as const;
