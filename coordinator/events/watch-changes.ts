import type { Clock } from "../../shared/clock.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { AccountEvents } from "./account-events.ts";
import type { JobChange } from "./change.ts";

export interface WatchChangesDeps {
  readonly events: Pick<AccountEvents, "isWatched" | "note">;
  readonly jobs: Pick<JobRegistry, "subscribe">;
  readonly islands: Pick<IslandRegistry, "subscribe" | "get">;
  /** Calls the listener with an Island that came into quarantine or left it. */
  readonly dispatcher: { onQuarantine(listener: (islandId: string) => void): void };
  readonly clock: Pick<Clock, "now">;
}

/**
 * Takes changes from where they happen: states of jobs, Islands that come and go, and balances with what moves credits. Tokens are none of
 * it.
 */
export function watchChanges({ events, jobs, islands, dispatcher, clock }: WatchChangesDeps): void {
  const noteBalance = (accountId: string): void => {
    if (events.isWatched(accountId)) events.note(accountId, { type: "balance", atMs: clock.now() });
  };
  const noteJob = (job: ActiveJob): void => {
    if (events.isWatched(job.accountId)) events.note(job.accountId, changeOf(job, clock.now()));
  };
  const noteIsland = (accountId: string | undefined, id: string): void => {
    if (accountId !== undefined && events.isWatched(accountId)) {
      events.note(accountId, { type: "island", id, atMs: clock.now() });
    }
  };

  /** One more of its slots is busy, or free, or its status is another one. */
  const noteOwned = (hostId: string | null): void => {
    if (hostId !== null) noteIsland(islands.get(hostId)?.accountId, hostId);
  };

  jobs.subscribe(({ type, job }) => {
    if (type === "job_moved") {
      noteOwned(job.islandId);
      return noteJob(job);
    }
    if (type === "job_stored") {
      noteJob(job);
      return noteBalance(job.accountId);
    }
    if (type !== "job_ended") return undefined;
    const { accountId, earner } = job;
    if (!events.isWatched(accountId) && !events.isWatched(earner?.accountId ?? "")) return undefined;
    // Nobody hears of an end, or of what it moves, before it is durable.
    void job.settled?.then(() => {
      noteJob(job);
      noteBalance(accountId);
      if (earner !== null) noteBalance(earner.accountId);
    });
    return undefined;
  });

  dispatcher.onQuarantine(noteOwned);

  islands.subscribe((event) => {
    if (event.type === "island_up" || event.type === "island_changed") {
      noteIsland(event.island.accountId, event.island.id);
    }
    if (event.type === "slot_freed") noteOwned(event.islandId);
    if (event.type === "island_down") noteIsland(islands.get(event.islandId)?.accountId, event.islandId);
  });
}

function changeOf(job: ActiveJob, atMs: number): JobChange {
  const { ending } = job.feed;
  return {
    type: "job",
    id: job.id,
    slug: job.slug,
    state: job.state,
    code: ending?.type === "error" && ending.code !== "cancelled" ? ending.code : null,
    batchId: job.batchId,
    createdAtMs: job.createdAtMs,
    completedAtMs: job.endedAtMs,
    atMs: job.endedAtMs ?? atMs,
  };
}
