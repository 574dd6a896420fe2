import type { Clock } from "../../shared/clock.ts";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import type { Announcement, AnnouncementLevel } from "../store/accounts/operators.ts";
import type { Store } from "../store/store.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";

export interface AnnouncementsDeps {
  readonly store: Pick<Store, "operators">;
  readonly trail: AuditTrail;
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
}

export const MAX_ANNOUNCEMENTS = 20;
export const MAX_ANNOUNCEMENT_CHARS = 1_000;
/** Everybody may read them: storage is asked so often at most. */
const FRESH_MS = 1_000;

/** What operators tell everybody. */
export class Announcements {
  readonly #deps: AnnouncementsDeps;
  #last: { readonly atMs: number; readonly read: Promise<Announcement[]> } | null = null;

  constructor(deps: AnnouncementsDeps) {
    this.#deps = deps;
  }

  /** Newest first; what another coordinator changed is here a second later. */
  async list(): Promise<Announcement[]> {
    const { store, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (this.#last === null || nowMs - this.#last.atMs >= FRESH_MS) {
      const read = store.operators.announcements(clock.now());
      this.#last = { atMs: nowMs, read };
      read.catch(() => (this.#last = null));
    }
    return (await this.#last.read).filter(({ untilMs }) => untilMs === null || untilMs > clock.now());
  }

  /** `untilMs` null: until it is removed. @throws {ServiceError} `bad_request` if there are 20; {@link ValidationError} */
  async add(
    actor: Actor,
    { level, text, untilMs }: { level: AnnouncementLevel; text: string; untilMs: number | null },
  ): Promise<Announcement> {
    const { trail, clock } = this.#deps;
    const nowMs = clock.now();
    if (untilMs !== null && untilMs <= nowMs) throw new ValidationError([{ path: "until", message: "is in the past" }]);
    const announcement = { id: newId("ann", nowMs), level, text, createdAtMs: nowMs, untilMs };
    const deed = { ...target(announcement.id), action: "announcement.add", after: { level, text, untilMs } };
    await trail.record(actor, deed, async ({ operators }) => {
      const limits = { nowMs, maxAnnouncements: MAX_ANNOUNCEMENTS };
      if (await operators.announce(announcement, limits)) return;
      throw new ServiceError("bad_request", `There are ${MAX_ANNOUNCEMENTS} announcements; remove one first`);
    });
    this.#last = null;
    return announcement;
  }

  /** @throws {ServiceError} `not_found` */
  async remove(actor: Actor, id: string): Promise<void> {
    const { store, trail, clock } = this.#deps;
    const before = (await store.operators.announcements(clock.now())).find((each) => each.id === id);
    if (before === undefined) throw new ServiceError("not_found", `There is no announcement "${id}"`);
    const { level, text, untilMs } = before;
    const deed = { ...target(id), action: "announcement.remove", before: { level, text, untilMs } };
    await trail.record(actor, deed, ({ operators }) => operators.removeAnnouncement(id));
    this.#last = null;
  }
}

const target = (targetId: string) => ({ targetKind: "announcement", targetId }) as const;
