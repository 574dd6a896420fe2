import type { Clock } from "../../shared/clock.ts";
import type { AuditedDeed } from "../store/audit-log.ts";
import type { Store } from "../store/store.ts";
import type { AccountEvents } from "./account-events.ts";

export interface WatchDeedsDeps {
  readonly events: Pick<AccountEvents, "isWatched" | "note" | "noteAccount" | "whileWatched">;
  readonly audit: Pick<Store["audit"], "latest">;
  readonly operators: Pick<Store["operators"], "island">;
  readonly clock: Pick<Clock, "now">;
}

/** Of one look; of more in a second the oldest are not told. */
const MAX_DEEDS = 100;
/** Older ones are no news. The clock of a machine where commands run may be off by as much. */
const MAX_AGE_MS = 60_000;

/**
 * What operators do to accounts and Islands, with a command or at another coordinator: of a command no coordinator hears. Reads the end of
 * the audit log, which has each from the commit that did it, once a second while somebody listens.
 */
export function watchDeeds({ events, audit, operators, clock }: WatchDeedsDeps): void {
  let seen: ReadonlySet<number> = new Set();
  let isLooking = false;

  const tell = async ({ action, targetKind, targetId }: AuditedDeed): Promise<void> => {
    const atMs = clock.now();
    if (targetKind === "island") {
      const owner = (await operators.island(targetId))?.accountId ?? "";
      if (events.isWatched(owner)) events.note(owner, { type: "island", id: targetId, atMs });
    }
    if (targetKind !== "account") return;
    if (action === "account.grant") events.note(targetId, { type: "balance", atMs });
    else events.noteAccount(targetId);
  };

  const look = async (): Promise<void> => {
    const latest = await audit.latest(MAX_DEEDS);
    const fromMs = clock.now() - MAX_AGE_MS;
    for (const deed of latest) if (!seen.has(deed.id) && deed.atMs > fromMs) await tell(deed);
    seen = new Set(latest.map(({ id }) => id));
  };

  events.whileWatched(() => {
    if (isLooking) return;
    isLooking = true;
    // Storage is away: the next look finds it.
    look()
      .catch(() => undefined)
      .finally(() => (isLooking = false));
  });
}
