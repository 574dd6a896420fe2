import type { Elsewhere } from "../scheduler/explain.ts";
import type { SharedWork, WorkLoad } from "../scheduler/shared-work.ts";
import { workKeyOf, workKindOf } from "../scheduler/slot-offer.ts";
import type { WorkKind } from "../scheduler/events.ts";
import { MAX_ISLANDS, MAX_JOBS, MAX_KINDS, type PeerStatus, type StealRequest } from "./messages.ts";

/** A request for waiting jobs, and the coordinator that receives it. */
export interface Steal {
  readonly victimId: string;
  readonly request: StealRequest;
}

/** Load of another coordinator according to its last status. */
interface PeerLoad {
  readonly id: string;
  readonly freeSlots: number;
  readonly islands: number;
  readonly receivedAtMs: number;
  /** Start of the period in which the coordinator was never silent for longer than `SILENT_MS`. */
  readonly activeSinceMs: number;
  readonly work: Map<string, WorkLoad>;
  /** Time of the first status that reported the jobs now waiting there, by kind of work (`workKeyOf()`). */
  readonly waitsSinceMs: ReadonlyMap<string, number>;
}

/** A kind of work with waiting jobs at other coordinators (`peers`). */
interface Demand {
  readonly key: string;
  readonly kind: WorkKind;
  readonly peers: ReadonlyMap<string, PeerLoad>;
}

/** Silence after which the load of a coordinator is forgotten. */
const SILENT_MS = 3_000;
/** Interval of statuses while nothing changes. */
const STATUS_MS = 1_000;
/** Minimum interval between two statuses: `perPeerMs` for each other coordinator, from `minMs` to `maxMs`. */
const STATUS_INTERVAL = { perPeerMs: 4, minMs: 25, maxMs: 250 };
/** Maximum number of kinds of work that a request considers. If more that Islands here may run wait elsewhere, they rotate with each status. */
const MAX_DEMANDS = 32;
/** Delay of a request for each coordinator with more free slots, so that not all request the same jobs. */
const REQUEST_DELAY_PER_RIVAL = { stepMs: 25, maxMs: 500 };
/** Additional delay of a request for each doubling of the cost above 1 s, so that the coordinator with the best Island is first. */
const REQUEST_DELAY_FOR_COST = { perDoublingMs: 10, maxMs: 100 };
/** Waiting time of a job after which every coordinator with a free slot may request it. */
const MAX_DELAY_MS = REQUEST_DELAY_PER_RIVAL.maxMs + REQUEST_DELAY_FOR_COST.maxMs;
/** Minimum interval between two requests that balance queues. */
const BALANCE_MS = 500;
/** Factor by which the wait must be shorter for a job to move, so that jobs do not move back and forth. */
const MIN_GAIN_FACTOR = 1.25;
/** Delays before a coordinator is asked again: after it gave no job, and after it did not reply. */
const RETRY_DELAY = { emptyMs: 250, failedMs: 1_000 };
/** Age after which a pending request no longer reserves free slots. */
const RESERVED_MS = 250;
/** Maximum number of concurrent requests, each of which reserves slots. */
const MAX_REQUESTS = 4;

/**
 * Decides what to announce about waiting jobs and free slots, which coordinator to ask for jobs, and which jobs to
 * give. The caller supplies the time and sends the messages.
 */
export function workShares(selfId: string, here: SharedWork) {
  /** Recent statuses of other coordinators, by id. */
  const peers = new Map<string, PeerLoad>();
  /** Kinds of work with waiting jobs at other coordinators, by `workKeyOf()`. */
  const demands = new Map<string, Demand & { readonly peers: Map<string, PeerLoad> }>();
  /** Keys of the kinds of work that waited here according to this coordinator's last status. */
  let announcedKeys: ReadonlySet<string> = new Set();
  /** Keys that a reply, sent after the last status, reported as having no waiting jobs. */
  const emptied = new Set<string>();
  let announcedIslands = 0;
  let announcedAtMs = -Infinity;
  let balancedAtMs = -Infinity;
  let rounds = 0;
  /** Requests in flight by coordinator: when each started, and the Islands that it offers. */
  const inFlight = new Map<string, { readonly sinceMs: number; readonly islandIds: readonly string[] }>();
  /** Time until which a coordinator gets no request, by its id. */
  const notBeforeMs = new Map<string, number>();

  function noteDemand(peer: PeerLoad, load: WorkLoad): void {
    const key = workKeyOf(load);
    if (load.jobs === 0) {
      dropDemand(key, peer.id);
      return;
    }
    const demand = demands.get(key) ?? { key, kind: workKindOf(load), peers: new Map() };
    demand.peers.set(peer.id, peer);
    demands.set(key, demand);
  }

  function dropDemand(key: string, id: string): void {
    const demand = demands.get(key);
    demand?.peers.delete(id);
    if (demand?.peers.size === 0) demands.delete(key);
  }

  function sumOf(key: string, exceptId?: string): Sum {
    const loads = [...peers.values()].filter(({ id }) => id !== exceptId).map(({ work }) => work.get(key));
    return sum(...loads.filter((load) => load !== undefined));
  }

  /**
   * Returns true if the last status is outdated: other kinds of work wait, the first Island came, or the last one left.
   */
  function hasNews(waiting: readonly WorkLoad[]): boolean {
    if ((announcedIslands === 0) !== (here.islandCount === 0)) return true;
    const keys = new Set(waiting.map(workKeyOf));
    return keys.size !== announcedKeys.size || [...keys].some((key) => !announcedKeys.has(key) || emptied.has(key));
  }

  /** Returns a part of the demands. Readings of audits make many kinds of work, each for the Islands of one account. */
  function selectedDemands(): readonly Demand[] {
    const possible = [...demands.values()].filter(({ kind }) => here.mayHaveIslandFor(kind));
    return rotatingSlice(possible, MAX_DEMANDS, rounds);
  }

  /** Returns the slots of this coordinator for kinds of work that wait only at other coordinators. */
  function readiness(waiting: readonly WorkLoad[]): WorkLoad[] {
    const own = new Set(waiting.map(workKeyOf));
    return selectedDemands().flatMap(({ key, kind }) => {
      const slots = own.has(key) ? 0 : here.slotsFor(kind);
      return slots === 0 ? [] : [{ ...kind, jobs: 0, pressing: 0, slots }];
    });
  }

  /**
   * Returns a request for jobs that can start here at once, to the coordinator with the most pressing jobs per slot.
   */
  function stealToStart(startable: readonly Demand[], offered: ReadonlySet<string>, nowMs: number): Steal | undefined {
    if (startable.length === 0) return undefined;
    const own = here.freeSlots;
    const ahead = [...peers.values()].filter(
      ({ id, freeSlots }) => freeSlots > own || (freeSlots === own && id < selfId),
    );
    let victim: PeerLoad | undefined;
    let highest = 0;
    for (const demand of startable) {
      for (const peer of demand.peers.values()) {
        const pressure = pressureOf(peer.work.get(demand.key));
        if (pressure <= highest || !canAsk(peer, nowMs)) continue;
        if (!isDueFrom(demand, peer, ahead, nowMs)) continue;
        victim = peer;
        highest = pressure;
      }
    }
    if (victim === undefined) return undefined;
    const { id: victimId, work } = victim;
    const waiting = startable.flatMap(({ key }) => work.get(key) ?? []).filter(({ jobs }) => jobs > 0);
    const offer = here.offer(waiting, { maxSlots: MAX_JOBS, maxIslands: MAX_ISLANDS, except: offered });
    if (offer.islands.length === 0) return undefined;
    return { victimId, request: { offer, backlog: [] } };
  }

  /** Returns a request for jobs that would wait less in the queues here, although no slot is free for them. */
  function stealToBalance(demands: readonly Demand[], nowMs: number): Steal | undefined {
    if (nowMs - balancedAtMs < BALANCE_MS) return undefined;
    balancedAtMs = nowMs;
    const plans = new Map<string, { jobs: number; readonly backlog: WorkLoad[] }>();
    for (const { key, kind, peers } of demands) {
      const mine = here.loadOf(kind);
      const network = sum(sumOf(key), mine);
      for (const peer of peers.values()) {
        const theirs = peer.work.get(key);
        if (theirs === undefined || !canAsk(peer, nowMs)) continue;
        // Until MAX_DELAY_MS, only coordinators with a free slot request the job. A job that moves must be announced
        // again.
        if (waitedMs(peer, key, nowMs) < MAX_DELAY_MS) continue;
        const jobs = jobsToSteal(mine, theirs, network);
        if (jobs === 0) continue;
        const plan = plans.get(peer.id) ?? { jobs: 0, backlog: [] };
        plan.jobs += jobs;
        plan.backlog.push(mine);
        plans.set(peer.id, plan);
      }
    }
    const [largest] = [...plans].sort(([, a], [, b]) => b.jobs - a.jobs);
    if (largest === undefined) return undefined;
    const [victimId, { backlog }] = largest;
    return { victimId, request: { offer: { kinds: [], islands: [] }, backlog } };
  }

  function canAsk({ id }: PeerLoad, nowMs: number): boolean {
    return !inFlight.has(id) && nowMs >= (notBeforeMs.get(id) ?? 0);
  }

  /**
   * Returns true if jobs may be stolen now: at once if the coordinators with more free slots have too few for all jobs,
   * otherwise after a delay for each of these coordinators.
   */
  function isDueFrom({ key, kind }: Demand, victim: PeerLoad, ahead: readonly PeerLoad[], nowMs: number): boolean {
    const sinceMs = waitedMs(victim, key, nowMs);
    if (sinceMs >= MAX_DELAY_MS) return true;
    const isRival = ({ id, freeSlots, work }: PeerLoad): boolean =>
      id !== victim.id && freeSlots > 0 && (work.get(key)?.slots ?? 1) > 0;
    const rivals = ahead.filter(isRival);
    const slots = rivals.reduce((sum, { freeSlots }) => sum + freeSlots, 0);
    const stepMs = Math.min(REQUEST_DELAY_PER_RIVAL.stepMs, REQUEST_DELAY_PER_RIVAL.maxMs / Math.max(1, peers.size));
    const delayMs = slots < (victim.work.get(key)?.jobs ?? 0) ? 0 : rivals.length * stepMs;
    if (![...peers.values()].some(isRival)) return true;
    const { perDoublingMs, maxMs } = REQUEST_DELAY_FOR_COST;
    const doublings = Math.max(0, Math.log2((here.costFor(kind) ?? Infinity) / 1_000));
    return sinceMs >= delayMs + Math.min(maxMs, perDoublingMs * doublings);
  }

  return {
    /** Records the status of another coordinator. */
    receive(id: string, { freeSlots, islands, work }: PeerStatus, nowMs: number): void {
      if (id === selfId) return;
      const before = peers.get(id);
      const waiting = work.filter(({ jobs }) => jobs > 0).map(workKeyOf);
      const waitsSinceMs = new Map(waiting.map((key) => [key, before?.waitsSinceMs.get(key) ?? nowMs]));
      const byKey = new Map(work.map((load) => [workKeyOf(load), load]));
      const activeSinceMs = before?.activeSinceMs ?? nowMs;
      const peer = { id, freeSlots, islands, receivedAtMs: nowMs, activeSinceMs, work: byKey, waitsSinceMs };
      peers.set(id, peer);
      for (const key of before?.work.keys() ?? []) if (!byKey.has(key)) dropDemand(key, id);
      for (const load of work) noteDemand(peer, load);
    },
    /** Forgets coordinators that are dead or silent. */
    prune(isLive: (id: string) => boolean, nowMs: number): void {
      for (const { id, receivedAtMs, work } of peers.values()) {
        if (isLive(id) && nowMs - receivedAtMs <= SILENT_MS) continue;
        peers.delete(id);
        for (const key of work.keys()) dropDemand(key, id);
      }
      for (const id of notBeforeMs.keys()) if (!isLive(id)) notBeforeMs.delete(id);
    },
    /** Returns true if the coordinator was never silent since `sinceMs`. */
    wasActiveSince(id: string, sinceMs: number): boolean {
      return (peers.get(id)?.activeSinceMs ?? Infinity) <= sinceMs;
    },
    /** Returns the id of the coordinator with the most free slots; undefined if none is known. */
    freestPeerId(): string | undefined {
      return [...peers.values()].toSorted((a, b) => b.freeSlots - a.freeSlots)[0]?.id;
    },
    /**
     * Returns the last reports of other coordinators about a kind of work. Kinds without waiting jobs are not reported.
     */
    elsewhere: (kind: WorkKind): Elsewhere => {
      const key = workKeyOf(kind);
      const running = [...peers.values()].filter(({ work }) => (work.get(key)?.slots ?? 0) > 0);
      const free = running.reduce((sum, { freeSlots }) => sum + freeSlots, 0);
      return { peers: peers.size, running: running.length, slots: sumOf(key).slots, free };
    },
    /** Returns whether another coordinator runs a kind of work, or may: kinds without waiting jobs are not reported. */
    mayRunElsewhere(kind: WorkKind): boolean {
      const key = workKeyOf(kind);
      return [...peers.values()].some(({ islands, work }) => (work.get(key)?.slots ?? islands) > 0);
    },
    /** Returns the number of waiting jobs at other coordinators by Cargo, as far as reported. */
    waitingElsewhere: (): ReadonlyMap<string, number> => {
      const counts = new Map<string, number>();
      for (const { kind, key, peers } of demands.values()) {
        const jobs = [...peers.values()].reduce((sum, { work }) => sum + (work.get(key)?.jobs ?? 0), 0);
        counts.set(kind.slug, (counts.get(kind.slug) ?? 0) + jobs);
      }
      return counts;
    },
    /** Returns the status to send; undefined if nothing has changed that others should act on. */
    announcement(nowMs: number): PeerStatus | undefined {
      const sinceMs = nowMs - announcedAtMs;
      const { perPeerMs, minMs, maxMs } = STATUS_INTERVAL;
      if (sinceMs < Math.min(maxMs, Math.max(minMs, perPeerMs * peers.size))) return undefined;
      const waiting = here.waiting();
      if (sinceMs < STATUS_MS && !hasNews(waiting)) return undefined;
      announcedAtMs = nowMs;
      announcedIslands = here.islandCount;
      rounds += 1;
      emptied.clear();
      const work = rotatingSlice([...waiting, ...readiness(waiting)], MAX_KINDS, rounds);
      announcedKeys = new Set(work.filter(({ jobs }) => jobs > 0).map(workKeyOf));
      return { freeSlots: here.freeSlots, islands: announcedIslands, work };
    },
    /** Returns the next request for jobs. Call `noteVictimLoad` and `noteReply`, or `noteFailure`, afterwards. */
    nextSteal(nowMs: number): Steal | undefined {
      const recent = [...inFlight.values()].filter(({ sinceMs }) => nowMs - sinceMs < RESERVED_MS);
      if (recent.length >= MAX_REQUESTS) return undefined;
      const selected = selectedDemands();
      if (selected.length === 0) return undefined;
      const offered = new Set(recent.flatMap(({ islandIds }) => islandIds));
      const startable = selected.filter(({ kind }) => here.costFor(kind) !== null);
      const others = selected.filter((demand) => !startable.includes(demand));
      const start = stealToStart(startable, offered, nowMs);
      const steal = start ?? (recent.length === 0 ? stealToBalance(others, nowMs) : undefined);
      if (steal === undefined) return undefined;
      const islandIds = steal.request.offer.islands.map(({ id }) => id);
      inFlight.set(steal.victimId, { sinceMs: nowMs, islandIds });
      return steal;
    },
    /** Records the load that is left at the requested coordinator. Call it before newer statuses arrive. */
    noteVictimLoad(victimId: string, loads: readonly WorkLoad[]): void {
      const peer = peers.get(victimId);
      if (peer === undefined) return;
      for (const load of loads) {
        peer.work.set(workKeyOf(load), load);
        noteDemand(peer, load);
      }
    },
    /** Records how many jobs a request moved here. After 0, the victim gets no request for a while. */
    noteReply(victimId: string, stolen: number, nowMs: number): void {
      inFlight.delete(victimId);
      if (stolen === 0) notBeforeMs.set(victimId, nowMs + RETRY_DELAY.emptyMs);
    },
    noteFailure(victimId: string, nowMs: number): void {
      inFlight.delete(victimId);
      notBeforeMs.set(victimId, nowMs + RETRY_DELAY.failedMs);
    },
    /** Removes jobs from the queues for another coordinator, in fair order and within its share. */
    giveTo(thiefId: string, { offer, backlog }: StealRequest): string[] {
      const jobIds = here.takeFor(offer, MAX_JOBS);
      for (const load of backlog) {
        const own = here.loadOf(load);
        const jobs = jobsToSteal(load, own, sum(sumOf(workKeyOf(load), thiefId), own, load));
        jobIds.push(...here.takeNext(load, Math.min(jobs, MAX_JOBS - jobIds.length)));
      }
      return jobIds;
    },
    remainingLoad({ offer, backlog }: StealRequest): WorkLoad[] {
      return [...offer.kinds, ...backlog].map((kind) => {
        const load = here.loadOf(kind);
        if (load.jobs === 0) emptied.add(workKeyOf(kind));
        return load;
      });
    },
  };
}

/** Returns the whole list if it is short enough, otherwise a part that rotates with each round. */
function rotatingSlice<T>(list: readonly T[], max: number, round: number): readonly T[] {
  if (list.length <= max) return list;
  const from = (round * max) % list.length;
  return [...list.slice(from), ...list.slice(0, from)].slice(0, max);
}

function waitedMs({ waitsSinceMs, receivedAtMs }: PeerLoad, key: string, nowMs: number): number {
  return nowMs - (waitsSinceMs.get(key) ?? receivedAtMs);
}

/** Returns the pressing jobs per slot. All waiting jobs are pressing, but at most ten of each account. */
function pressureOf(load: WorkLoad | undefined): number {
  return load === undefined ? 0 : load.pressing / Math.max(load.slots, 0.5);
}

type Sum = Pick<WorkLoad, "pressing" | "slots">;
type Load = Sum & Pick<WorkLoad, "jobs">;

function sum(...loads: readonly Sum[]): Sum {
  const none: Sum = { pressing: 0, slots: 0 };
  return loads.reduce((a, b) => ({ pressing: a.pressing + b.pressing, slots: a.slots + b.slots }), none);
}

/**
 * Returns how many waiting jobs of a kind a coordinator with busy slots steals from another. Each job must wait less at
 * the thief. The thief gets at most its share of all jobs, so that jobs do not starve where there are few slots.
 * @param network sums over all coordinators, including these two
 */
export function jobsToSteal(mine: Load, theirs: Load, network: Sum): number {
  if (mine.slots === 0 || theirs.jobs === 0) return 0;
  // If n jobs move, the last one waits (mine.pressing + n) / mine.slots rounds of runs at the thief, instead of
  // (theirs.pressing - n + 1) / theirs.slots.
  const gain = (theirs.pressing + 1) * mine.slots - MIN_GAIN_FACTOR * mine.pressing * theirs.slots;
  const better = Math.floor(gain / (mine.slots + MIN_GAIN_FACTOR * theirs.slots));
  const part = Math.ceil((network.pressing * mine.slots) / network.slots - mine.pressing);
  return Math.max(0, Math.min(better, part, theirs.jobs));
}
