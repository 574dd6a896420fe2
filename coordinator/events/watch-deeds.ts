import type { Clock } from "../../shared/clock.ts";
import type { Store } from "../store/store.ts";
import type { AccountEvents } from "./account-events.ts";

const POLL_MS = 1_000;
/** Of one poll; of more in a second the oldest are not sent. */
const MAX_DEEDS = 100;
/** Older ones are ignored. The clock of a machine where commands run may be off by as much. */
const MAX_AGE_MS = 60_000;

/**
 * Notes what operators do to accounts and Islands, with a command or at another coordinator: no coordinator is told of a command. Reads the
 * end of the audit log, which has each from the commit that did it, once a second while any account has listeners.
 */
export function watchDeeds(
  events: Pick<AccountEvents, "closed" | "hasListeners" | "note">,
  { audit, operators }: { audit: Pick<Store["audit"], "latest">; operators: Pick<Store["operators"], "island"> },
  clock: Pick<Clock, "now" | "sleep">,
): void {
  let seen: ReadonlySet<number> = new Set();

  const poll = async (): Promise<void> => {
    const latest = await audit.latest(MAX_DEEDS);
    for (const { id, atMs, action, targetKind, targetId } of latest) {
      if (seen.has(id) || atMs <= clock.now() - MAX_AGE_MS) continue;
      const owner = targetKind === "island" ? (await operators.island(targetId))?.accountId : undefined;
      if (owner !== undefined) events.note(owner, { type: "island", id: targetId });
      if (targetKind === "account") events.note(targetId, { type: action === "account.grant" ? "balance" : "account" });
    }
    seen = new Set(latest.map(({ id }) => id));
  };

  const watch = async (): Promise<never> => {
    for (;;) {
      await clock.sleep(POLL_MS, events.closed);
      // Storage may be away: the next poll finds it.
      if (events.hasListeners) await poll().catch(() => undefined);
    }
  };
  watch().catch(() => undefined);
}
