import { JOB_STATES, type JobState } from "../../shared/job-state.ts";
import type { Reading } from "../../shared/prometheus.ts";
import type { Tally } from "../../shared/tally.ts";
import type { FrameCounts } from "../islands/frame-counts.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { AskElsewhere } from "../scheduler/wait-counts.ts";
import type { Store } from "../store/store.ts";

/** What is read when metrics are asked for. */
export interface ReadingsDeps {
  readonly jobs: Pick<JobRegistry, "list"> & { readonly attempts: { readonly relayedTokens: number } };
  readonly islands: Pick<IslandRegistry, "connectedCount" | "connected">;
  readonly scheduler: Pick<Scheduler, "quarantinedCount" | "waitsByReason">;
  readonly store: Pick<Store, "commits" | "queued" | "readOnlyBecause">;
  readonly gateway: { readonly frames: FrameCounts; readonly refusals: Tally };
  readonly webhooks: { readonly pendingCount: number };
  /** Null for a coordinator that is alone. */
  readonly member: { readonly elsewhere: AskElsewhere } | null;
  readonly version: string;
}

const UNFINISHED: readonly JobState[] = ["pending", "queued", "running"];
export const ENDED: readonly JobState[] = JOB_STATES.filter((state) => !UNFINISHED.includes(state));

/** Figures of now and of other parts' own counters. */
export function readingsOf(deps: ReadingsDeps): readonly Reading[] {
  const { jobs, store, version } = deps;
  return [
    gauge("atoll_info", "Version of the coordinator", ["version"], () => [[[version], 1]]),
    gauge("atoll_jobs_unfinished", "Jobs that have not ended", ["state"], () => {
      const counts = new Map(UNFINISHED.map((state) => [state, 0]));
      for (const { state } of jobs.list()) if (counts.has(state)) counts.set(state, (counts.get(state) ?? 0) + 1);
      return rowsOf(counts);
    }),
    gauge("atoll_jobs_waiting", "Jobs that wait for an Island, by reason", ["reason"], () => waits(deps)),
    ...islandReadings(deps),
    counter("atoll_tokens_relayed_total", "Model tokens relayed since the coordinator started, live", [], () =>
      one(jobs.attempts.relayedTokens),
    ),
    counter("atoll_storage_commits_total", "Transactions of jobs and Islands committed since the start", [], () =>
      one(store.commits),
    ),
    gauge("atoll_storage_queue", "Writes that are not committed yet", [], () => one(store.queued)),
    gauge("atoll_storage_read_only", "1 while nothing new can be stored", [], () =>
      one(store.readOnlyBecause === null ? 0 : 1),
    ),
    gauge("atoll_webhooks_pending", "Webhooks to be delivered", [], () => one(deps.webhooks.pendingCount)),
  ];
}

function islandReadings({ islands, scheduler, gateway }: ReadingsDeps): readonly Reading[] {
  return [
    gauge("atoll_islands_connected", "Islands with an open session", [], () => one(islands.connectedCount)),
    gauge(
      "atoll_islands_quarantined",
      "Connected Islands that get no or few jobs, because they let down several in a row",
      [],
      () => one(scheduler.quarantinedCount),
    ),
    gauge("atoll_islands_draining", "Connected Islands that take no new jobs", [], () => {
      return one([...islands.connected()].filter(({ facts }) => facts.draining).length);
    }),
    gauge("atoll_islands", "Connected Islands by runtime; one Island may have several", ["runtime"], () => {
      const counts = new Map<string, number>();
      for (const { facts } of islands.connected())
        for (const runtime of facts.runtimes) counts.set(runtime, (counts.get(runtime) ?? 0) + 1);
      return rowsOf(counts);
    }),
    gauge("atoll_slots", "Slots of connected Islands that take jobs or run some", ["state"], () => {
      const slots = { busy: 0, free: 0 };
      for (const { island, facts } of islands.connected()) {
        slots.busy += island.slotsInUse;
        if (!facts.draining) slots.free += Math.max(0, facts.slots - island.slotsInUse);
      }
      return rowsOf(Object.entries(slots));
    }),
    counter("atoll_frames_total", "Frames of the Island protocol, by direction and type", ["direction", "type"], () =>
      (["received", "sent"] as const).flatMap((direction) =>
        Object.entries(gateway.frames[direction]).map(([type, count]) => [[direction, type], count] as const),
      ),
    ),
  ];
}

/** Of this coordinator's jobs, also those of batches that wait for a place of their account. */
function waits({ jobs, scheduler, member }: Pick<ReadingsDeps, "jobs" | "scheduler" | "member">): Rows {
  let parked = 0;
  for (const { state, hasPlace } of jobs.list()) if (state === "pending" && !hasPlace) parked += 1;
  const byReason = scheduler.waitsByReason((kind) => member?.elsewhere(kind) ?? null);
  return rowsOf([...byReason, ["account_limit", parked]]);
}

type Rows = (readonly [labels: readonly string[], value: number])[];

const one = (value: number): Rows => [[[], value]];
const rowsOf = (counts: Iterable<readonly [string, number]>): Rows =>
  [...counts].map(([label, count]) => [[label], count]);

function gauge(name: string, help: string, labelNames: readonly string[], read: () => Rows): Reading {
  return { type: "gauge", name, help, labelNames, read };
}

function counter(name: string, help: string, labelNames: readonly string[], read: () => Rows): Reading {
  return { type: "counter", name, help, labelNames, read };
}
