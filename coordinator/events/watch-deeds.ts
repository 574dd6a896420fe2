import type { Clock } from "../../shared/clock.ts";
import type { AuditedDeed, AuditLog } from "../store/audit-log.ts";
import type { OperatorStore } from "../store/operator-store.ts";
import type { AccountEvents } from "./account-events.ts";

export interface WatchDeedsDeps {
  readonly events: Pick<AccountEvents, "isWatched" | "note" | "noteAccount" | "whileWatched">;
  readonly audit: Pick<AuditLog, "latest">;
  readonly operators: Pick<OperatorStore, "island">;
  readonly clock: Pick<Clock, "now">;
}

/** Of one look; of more in a second the oldest are not told. */
const MAX_DEEDS = 100;
/** Older ones are no news. The clock of a machine where commands run may be off by as much. */
const MAX_AGE_MS = 60_000;

/**
 * What operators do to accounts and Islands, with a command or at another coordinator: of a command no coordinator hears. Reads the end of
 * the audit log each second while somebody listens. A deed stands there before it is done, so each is told now and at the next look.
 */
export function watchDeeds({ events, audit, operators, clock }: WatchDeedsDeps): void {
  let seen: ReadonlySet<number> = new Set();
  let again: readonly AuditedDeed[] = [];
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
    const news = latest.filter(({ id, atMs }) => !seen.has(id) && atMs > fromMs);
    seen = new Set(latest.map(({ id }) => id));
    for (const deed of [...again, ...news]) await tell(deed);
    again = news;
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
