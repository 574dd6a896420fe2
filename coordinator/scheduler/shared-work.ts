import { recentMap } from "../../shared/recent-map.ts";
import type { SchedulerIsland, WorkKind } from "./events.ts";
import { explainWait } from "./explain.ts";
import { OfferedSlots, workKeyOf, workKindOf, type OfferedIsland, type SlotOffer } from "./slot-offer.ts";
import { fits } from "./fit.ts";
import type { IslandIndices } from "./island-indices.ts";
import type { JobKind } from "./job-queue.ts";
import type { OnlineIsland } from "./online-island.ts";
import type { WaitingJobs } from "./waiting-jobs.ts";

export interface WaitingWork extends WorkKind {
  readonly jobs: number;
}

export interface WorkLoad extends WaitingWork {
  /** Number of pressing jobs: the waiting jobs, but at most ten of each account. */
  readonly pressing: number;
  /** Number of slots, free or not, of Islands that run the kind and have no open circuit breaker. */
  readonly slots: number;
}

/**
 * Whether Islands may run jobs of a kind. `possible`: an Island fits, will fit when it accepts new jobs again, or left
 * recently and may return. `lacking`: each Island that may run the jobs permanently lacks something; `message` names it
 * for people. `absent`: no Island that may run the jobs is online.
 */
export type Outlook =
  | { readonly is: "possible" }
  | { readonly is: "lacking"; readonly message: string }
  | { readonly is: "absent" };

/** Maximum number of Islands that are kept after they left. A job that only a dropped Island can run may be refused. */
const MAX_DEPARTED = 1_000;
/** Maximum number of jobs that one search passes over because they avoid the offered Islands. */
const MAX_SKIPPED = 64;
/** Number of slots offered for each kind, besides twice its reported jobs. */
const SPARE_SLOTS = 16;

export type SharedWork = ReturnType<typeof sharedWork>;

/**
 * Waiting jobs that Islands of other coordinators could run, and free slots for jobs of other coordinators.
 * @param islandCounts Numbers of online Islands by account.
 */
export function sharedWork(
  waitingJobs: WaitingJobs,
  indices: IslandIndices,
  islands: ReadonlyMap<string, OnlineIsland>,
  islandCounts: ReadonlyMap<string, number>,
  nowMs: () => number,
) {
  /** Islands that left, by id; the last to leave is first. */
  const departed = recentMap<{ readonly info: SchedulerIsland; readonly atMs: number }>(MAX_DEPARTED);

  const slotsFor = (kind: WorkKind): number => indices.of(kind)?.availableSlots ?? 0;
  /** Returns true if no Island here is worth waiting for and the job's avoidance delay is over. */
  const hasNoIsland = (kind: JobKind): boolean =>
    !kind.mustAvoid && (indices.of(kind)?.availableOutside(kind.avoidIslands) ?? 0) === 0;

  return {
    slotsFor,
    /** Returns whether an online Island belongs to an account that may run the kind of work. */
    mayHaveIslandFor: ({ onlyIslandsOf }: WorkKind): boolean =>
      onlyIslandsOf === null || islandCounts.has(onlyIslandsOf),

    /** Number of free slots of all Islands that are not draining. The cost grows with the number of Islands. */
    get freeSlots(): number {
      let free = 0;
      for (const island of islands.values()) if (!island.info.draining) free += island.freeSlots;
      return free;
    },

    /** Number of online Islands, busy or not. */
    get islandCount(): number {
      return islands.size;
    },

    /** Returns the waiting jobs by kind of work. */
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

    /** Returns the waiting jobs of one kind, even if there are 0. */
    loadOf(work: WorkKind): WorkLoad {
      const key = workKeyOf(work);
      const queues = waitingJobs.queuesOf(work.slug).filter(({ kind }) => workKeyOf(kind) === key);
      const jobs = queues.reduce((sum, { size }) => sum + size, 0);
      const pressing = queues.reduce((sum, queue) => sum + queue.pressing, 0);
      return { ...workKindOf(work), jobs, pressing, slots: slotsFor(work) };
    },

    /** Returns the kind of a job; undefined if the job does not wait here. */
    kindOf(jobId: string): WorkKind | undefined {
      return waitingJobs.get(jobId)?.kind;
    },

    noteDeparted(info: SchedulerIsland, atMs: number): void {
      departed.set(info.id, { info, atMs });
    },

    /**
     * Returns whether Islands of this coordinator may run jobs of a kind.
     * @param sinceMs Islands that left before this time are not expected to return.
     */
    outlookFor(kind: WorkKind, sinceMs: number): Outlook {
      const index = indices.of(kind);
      if (index === undefined) return { is: "absent" };
      const fitCounts = index.fitCounts();
      const { online, misfits, fitting } = fitCounts;
      if (fitting + misfits.draining + misfits.owner_refused > 0) return { is: "possible" };
      for (const [id, { info, atMs }] of departed.entries()) {
        if (atMs < sinceMs) break;
        const fit = islands.has(id) ? "not_own" : fits(index.cargo, info);
        if (fit === true || fit === "draining") return { is: "possible" };
      }
      if (online === misfits.not_own) return { is: "absent" };
      return { is: "lacking", message: explainWait(index.cargo, fitCounts, 0).message };
    },

    /** Returns the expected cost in ms of a mean job of the kind; null if no Island here has a free slot for it. */
    costFor: (kind: WorkKind): number | null => indices.of(kind)?.lowestCostMs(nowMs()) ?? null,

    /**
     * Returns the best Islands with free slots for jobs of another coordinator. A kind gets more slots than jobs, at
     * most `maxSlots`, because more jobs may arrive before the offer. Its part of `maxIslands` is in proportion to its
     * jobs.
     */
    offer(
      waiting: readonly WaitingWork[],
      { maxSlots, maxIslands, except }: { maxSlots: number; maxIslands: number; except: ReadonlySet<string> },
    ): SlotOffer {
      const kinds = waiting.map((work) => ({ jobs: work.jobs, index: indices.of(work) }));
      const ready = kinds.map(({ jobs, index }) => ({
        items: index?.firstReady(Math.min(2 * jobs + SPARE_SLOTS, maxSlots), except) ?? [],
        share: jobs,
      }));
      const picked = pickByShare(ready, maxIslands).map((island): OfferedIsland => {
        const serves = kinds.flatMap(({ index }, nth) => (index?.mayServe(island.id, []) === true ? [nth] : []));
        // An offer has one number for all kinds, and no job may find its slot taken.
        const slots = serves.map((nth) => island.freeSlotsFor(kinds[nth]?.index?.servedOn(island.id)));
        return { id: island.id, accountId: island.info.accountId, slots: Math.min(...slots), serves };
      });
      return { kinds: waiting.map(workKindOf), islands: picked };
    },

    /**
     * Removes at most `maxJobs` waiting jobs that start in the offered slots, in the order in which they would start
     * here. They no longer compete here, and their accounts are charged. `job_gone` must follow for jobs that moved,
     * `job_stays` for the others.
     */
    takeFor(offer: SlotOffer, maxJobs: number): string[] {
      const slots = new OfferedSlots(offer);
      const skipped = [];
      const taken: string[] = [];
      while (taken.length < maxJobs && skipped.length < MAX_SKIPPED) {
        const job = waitingJobs.nextFor((kind) => slots.hasSlotFor(kind), []);
        if (job === undefined) break;
        if (slots.take(job, hasNoIsland(job.kind))) {
          waitingJobs.lend(job);
          taken.push(job.id);
        } else {
          waitingJobs.setAside(job);
          skipped.push(job);
        }
      }
      for (const job of skipped) waitingJobs.readmit(job.id);
      return taken;
    },

    /** Removes jobs of a kind that move to the queues of another coordinator; see {@link takeFor}. */
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

/** Picks each item once. The next item comes from the list that has received the least in relation to its share. */
function pickByShare<T>(lists: readonly { readonly items: readonly T[]; readonly share: number }[], max: number): T[] {
  const picked = new Set<T>();
  const rest = lists.map(({ items, share }) => ({ items: items.values(), share, received: 0 }));
  while (picked.size < max && rest.length > 0) {
    const next = rest.reduce((least, each) =>
      each.received * least.share < least.received * each.share ? each : least,
    );
    const item = nextOutside(next.items, picked);
    if (item === undefined) rest.splice(rest.indexOf(next), 1);
    else picked.add(item);
    next.received += 1;
  }
  return [...picked];
}

function nextOutside<T>(items: Iterator<T>, seen: ReadonlySet<T>): T | undefined {
  for (let next = items.next(); next.done !== true; next = items.next()) if (!seen.has(next.value)) return next.value;
  return undefined;
}
