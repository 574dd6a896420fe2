import type { Clock } from "../../shared/clock.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Store } from "../store/store.ts";
import type { AccountEvents } from "./account-events.ts";
import type { Change } from "./change.ts";

/**
 * Adds changes of jobs, Islands and balances to `events`, but no job output.
 * @param onQuarantine registers a listener for Islands that enter or leave quarantine
 */
export function watchChanges(
  events: Pick<AccountEvents, "isWatched" | "note" | "dropJob">,
  clock: Pick<Clock, "now">,
  jobs: Pick<JobRegistry, "subscribe">,
  islands: Pick<IslandRegistry, "subscribe" | "get">,
  onQuarantine: (listener: (islandId: string) => void) => void,
): void {
  const note = (accountId: string | undefined, change: () => Change): void => {
    if (accountId !== undefined && events.isWatched(accountId)) events.note(accountId, change());
  };
  const noteBalance = (accountId: string | undefined): void => note(accountId, () => ({ type: "balance" }));
  const noteJob = (job: ActiveJob): void => note(job.accountId, () => changeOf(job, clock.now()));
  const noteIsland = (id: string | null): void =>
    id === null ? undefined : note(islands.get(id)?.accountId, () => ({ type: "island", id }));

  jobs.subscribe(({ type, job }) => {
    if (type === "job_dropped") events.dropJob(job.accountId, job.id);
    // An Island may start a job before its commit, and may even end it.
    if ((type === "job_stored" && !job.hasEnded) || (type === "job_moved" && job.stored === null)) noteJob(job);
    // A move also changes the number of free slots of the Island.
    if (type === "job_moved") noteIsland(job.islandId);
    if (type === "job_stored") noteBalance(job.accountId);
    if (type !== "job_ended") return;
    const { accountId, earner } = job;
    if (!events.isWatched(accountId) && !events.isWatched(earner?.accountId ?? "")) return;
    // The end and the balances are sent once they are stored.
    void job.settled?.then(() => {
      noteJob(job);
      noteBalance(accountId);
      noteBalance(earner?.accountId);
    });
  });

  onQuarantine(noteIsland);

  islands.subscribe((event) => {
    if (event.type === "island_up" || event.type === "island_changed") noteIsland(event.island.id);
    if (event.type === "slot_freed" || event.type === "island_down") noteIsland(event.islandId);
  });
}

function changeOf(job: ActiveJob, atMs: number): Change {
  const { id, slug, state, batchId, createdAtMs, endedAtMs } = job;
  const { ending } = job.feed;
  const code = ending?.type === "error" && ending.code !== "cancelled" ? ending.code : null;
  const times = { createdAtMs, completedAtMs: endedAtMs, atMs: endedAtMs ?? atMs };
  return { type: "job", id, slug, state, code, batchId, ...times };
}

const POLL_MS = 1_000;
/** Maximum number of audit events per poll; older ones are missed. */
const MAX_EVENTS = 100;
/** Maximum age of audit events. It exceeds the clock difference to any machine on which commands run. */
const MAX_AGE_MS = 60_000;

/**
 * Adds changes of accounts and Islands that operators make by commands or at other coordinators. Polls the end of the
 * audit log once a second while an account has listeners.
 */
export function watchAuditLog(
  events: Pick<AccountEvents, "closed" | "hasListeners" | "note">,
  { audit, operators }: { audit: Pick<Store["audit"], "latest">; operators: Pick<Store["operators"], "island"> },
  clock: Pick<Clock, "now" | "sleep">,
): void {
  let seen: ReadonlySet<number> = new Set();

  const poll = async (): Promise<void> => {
    const latest = await audit.latest(MAX_EVENTS);
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
      // If storage is unavailable, the next poll retries.
      if (events.hasListeners) await poll().catch(() => undefined);
    }
  };
  watch().catch(() => undefined);
}
