import { recentMap } from "../../shared/recent-map.ts";
import type { CargoIslands } from "./cargo-islands.ts";
import type { SchedulerIsland } from "./events.ts";
import { explainWait } from "./explain.ts";
import { fits } from "./fit.ts";
import type { IslandIndices } from "./island-indices.ts";
import type { JobKind } from "./job-queue.ts";
import type { OnlineIsland } from "./online-island.ts";
import { modelAvailabilityOf, type ModelAvailability } from "./rank.ts";
import {
  OfferedSlots,
  workKeyOf,
  workKindOf,
  type OfferedIsland,
  type SlotOffer,
  type WorkKind,
} from "./slot-offer.ts";
import type { WaitingJobs } from "./waiting-jobs.ts";

export type { OfferedIsland, SlotOffer, WorkKind } from "./slot-offer.ts";

export interface WaitingWork extends WorkKind {
  readonly jobs: number;
}

/** How much of a kind waits here, beside what there is to run it. */
export interface WorkLoad extends WaitingWork {
  /** Of those, at most ten of each account. */
  readonly pressing: number;
  /** Slots, free or not, of Islands that run it and are not paused. */
  readonly slots: number;
}

/**
 * Whether Islands may run jobs of a kind. `possible`: one fits, or will when it takes new jobs again, or left a moment ago and may come
 * back. `lacking`: each that may run them lacks something for as long as it is what it is; `message` says what, for people. `absent`: none
 * that may run them is online.
 */
export type Outlook =
  | { readonly is: "possible" }
  | { readonly is: "lacking"; readonly message: string }
  | { readonly is: "absent" };

/** Islands that left last. If more leave at once, the first are forgotten, and a job that only they could run may be refused. */
const MAX_GONE = 1_000;
/** Jobs that one look for fitting ones may pass over, as they avoid what is offered. */
const MAX_PASSED = 64;
/** Of each kind, so many slots more than twice the jobs that were heard of are offered. */
const SPARE_SLOTS = 16;

/** What waits here that another coordinator's Islands could run, and what is free here for jobs of others. */
export type SharedWork = ReturnType<typeof sharedWork>;

export function sharedWork(
  waitingJobs: WaitingJobs,
  indices: IslandIndices,
  islands: ReadonlyMap<string, OnlineIsland>,
) {
  /** By id, the last to leave first. */
  const gone = recentMap<{ readonly info: SchedulerIsland; readonly atMs: number }>(MAX_GONE);

  const indexOf = (kind: WorkKind): CargoIslands | undefined => indices.of(kind, () => waitingJobs.queues);
  /** Slots, free or not, that run jobs of the kind. */
  const slotsFor = (kind: WorkKind): number => indexOf(kind)?.openSlots ?? 0;
  /** No Island here is worth waiting for, and the job has waited for those of all coordinators. */
  const hasNoIsland = (kind: JobKind): boolean =>
    !kind.mustAvoid && (indexOf(kind)?.openOutside(kind.avoidIslands) ?? 0) === 0;

  return {
    slotsFor,

    /** Of all Islands. The cost grows with their number. */
    get freeSlots(): number {
      let free = 0;
      for (const island of islands.values()) if (!island.info.draining) free += island.freeSlots;
      return free;
    },

    /** Online ones, busy or not. */
    get islandCount(): number {
      return islands.size;
    },

    /** Every kind of which jobs wait here. */
    waiting(): WorkLoad[] {
      const loads = new Map<string, WorkLoad>();
      for (const { kind, size, pressing } of waitingJobs.queues) {
        const sum = loads.get(workKeyOf(kind)) ?? {
          ...workKindOf(kind),
          jobs: 0,
          pressing: 0,
          slots: slotsFor(kind),
        };
        loads.set(workKeyOf(kind), { ...sum, jobs: sum.jobs + size, pressing: sum.pressing + pressing });
      }
      return [...loads.values()];
    },

    /** As {@link waiting}, of one kind. */
    loadOf(work: WorkKind): WorkLoad {
      const key = workKeyOf(work);
      const queues = waitingJobs.queuesOf(work.slug).filter(({ kind }) => workKeyOf(kind) === key);
      const jobs = queues.reduce((sum, { size }) => sum + size, 0);
      const pressing = queues.reduce((sum, queue) => sum + queue.pressing, 0);
      return { ...workKindOf(work), jobs, pressing, slots: slotsFor(work) };
    },

    /** Undefined if the job does not wait here. */
    kindOf(jobId: string): WorkKind | undefined {
      return waitingJobs.get(jobId)?.kind;
    },

    /** The Island left, and may come back. */
    noteGone(info: SchedulerIsland, atMs: number): void {
      gone.set(info.id, { info, atMs });
    },

    /** @param sinceMs Islands that left before are not expected back. */
    outlookFor(kind: WorkKind, sinceMs: number): Outlook {
      const index = indexOf(kind);
      if (index === undefined) return { is: "absent" };
      const fitCounts = index.fitCounts();
      const { online, misfits, fitting } = fitCounts;
      if (fitting + misfits.draining > 0) return { is: "possible" };
      for (const [id, { info, atMs }] of gone.entries()) {
        if (atMs < sinceMs) break;
        const fit = islands.has(id) ? "not_own" : fits(index.cargo, info);
        if (fit === true || fit === "draining") return { is: "possible" };
      }
      if (online === misfits.not_own) return { is: "absent" };
      return { is: "lacking", message: explainWait(index.cargo, fitCounts, 0).message };
    },

    /** Where the model is, of the best Island with a slot that is free for the kind; undefined if there is none. */
    freeSlotFor(kind: WorkKind): ModelAvailability | undefined {
      const index = indexOf(kind);
      const island = index?.best([]);
      return index === undefined || island === undefined ? undefined : modelAvailabilityOf(index.cargo, island.info);
    },

    /**
     * The best Islands with free slots for waiting jobs elsewhere: of each kind more slots than jobs, at most `maxSlots`, as more jobs come
     * until the offer is there. If the Islands are more than `maxIslands`, each kind gets its part of these by its jobs.
     * @param except Islands that are offered to somebody else.
     */
    offer(
      waiting: readonly WaitingWork[],
      { maxSlots, maxIslands, except }: { maxSlots: number; maxIslands: number; except: ReadonlySet<string> },
    ): SlotOffer {
      const wanted = waiting.map((kind) => indexOf(kind));
      const ready = waiting.map(
        ({ jobs }, place) => wanted[place]?.firstReady(Math.min(2 * jobs + SPARE_SLOTS, maxSlots), except) ?? [],
      );
      const shares = waiting.map(({ jobs }) => jobs);
      const picked = pickByShare(ready, shares, maxIslands).map((island): OfferedIsland => {
        const serves = wanted.flatMap((index, place) => (index?.mayServe(island.id, []) === true ? [place] : []));
        return { id: island.id, accountId: island.info.accountId, slots: island.freeSlots, serves };
      });
      return { kinds: waiting.map(workKindOf), islands: picked };
    },

    /**
     * Takes out the waiting jobs that start in the slots of another coordinator, in the order in which they would start here, at most
     * `maxJobs`. They compete here no longer, and their accounts have paid for them: `job_gone` must follow for those that moved, `job_stays`
     * for others. No more are taken than the slots can start.
     */
    takeFor(offer: SlotOffer, maxJobs: number): string[] {
      const slots = new OfferedSlots(offer);
      const passed = [];
      const taken: string[] = [];
      while (taken.length < maxJobs && passed.length < MAX_PASSED) {
        const job = waitingJobs.nextFor((kind) => slots.hasSlotFor(kind), []);
        if (job === undefined) break;
        if (slots.take(job, hasNoIsland(job.kind))) {
          waitingJobs.lend(job);
          taken.push(job.id);
        } else {
          waitingJobs.setAside(job);
          passed.push(job);
        }
      }
      for (const job of passed) waitingJobs.readmit(job.id);
      return taken;
    },

    /** Takes out jobs of a kind that another coordinator is to have in its queues, as {@link takeFor} does. */
    takeNext(work: WorkKind, maxJobs: number): string[] {
      const key = workKeyOf(work);
      const taken: string[] = [];
      while (taken.length < maxJobs) {
        const job = waitingJobs.nextFor((kind) => workKeyOf(kind) === key, []);
        if (job === undefined) break;
        waitingJobs.lend(job);
        taken.push(job.id);
      }
      return taken;
    },
  };
}

/** Takes the first of each list in turns, each item once: next from the list that has had the least for its share. */
function pickByShare<T>(lists: readonly (readonly T[])[], shares: readonly number[], max: number): T[] {
  const picked = new Set<T>();
  const rest = lists.map((list, place) => ({ items: list.values(), share: shares[place] ?? 0, had: 0 }));
  while (picked.size < max && rest.length > 0) {
    const next = rest.reduce((least, each) => (each.had * least.share < least.had * each.share ? each : least));
    const item = nextOutside(next.items, picked);
    if (item === undefined) rest.splice(rest.indexOf(next), 1);
    else picked.add(item);
    next.had += 1;
  }
  return [...picked];
}

function nextOutside<T>(items: Iterator<T>, seen: ReadonlySet<T>): T | undefined {
  for (let next = items.next(); next.done !== true; next = items.next()) if (!seen.has(next.value)) return next.value;
  return undefined;
}
